// A static library whose bytes go by once (private to src/scan).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "look/scan/stream.hpp"

namespace cudamatrix::scan {

/// Gives every member a scanner of its own. A member is named in errors as the header has it: the table of
/// long names is not kept.
class ArchiveStream {
  public:
    ArchiveStream(std::uint64_t size, const Depth& depth)
        : size_(size), depth_(depth), header_left_(kMagic) {}

    void feed(std::span<const std::uint8_t> bytes);
    /// `error`: what is wrong with the file that the bytes are from; it wins over what was found here.
    [[nodiscard]] Library finish(std::string path, const std::string& error);

  private:
    static constexpr std::size_t kMagic = 8;
    static constexpr std::size_t kMember = 60;

    void end_header();
    void end_member();

    std::uint64_t size_;
    Depth depth_;
    std::uint64_t fed_ = 0;
    std::vector<std::uint8_t> header_;
    std::size_t header_left_;        ///< bytes of the header that is being read
    std::uint64_t member_left_ = 0;  ///< bytes of the member, its padding included
    std::uint64_t padding_ = 0;
    std::string name_;
    std::unique_ptr<StreamScanner> member_;  ///< none for a table of the archive itself
    Library sum_;
    std::string error_;
};

}  // namespace cudamatrix::scan
