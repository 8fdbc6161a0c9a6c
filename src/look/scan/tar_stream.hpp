// Reads a tar whose bytes go by once: ustar, pax and GNU's long names (POSIX.1-2001 pax; GNU tar manual,
// "Basic Tar Format").
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/byte_source.hpp"

namespace cudamatrix::scan {

struct TarEntry {
    enum class Kind { file, folder, hard_link, symbolic_link, other };
    std::string path;  ///< without "./" and '/' in front and behind; empty for the root; never with ".."
    Kind kind = Kind::file;
    std::uint64_t size = 0;  ///< of a file's content
    std::string link;        ///< what a link points to: of a hard link a path like `path`, else as written
};

/// Takes what a tar holds, in its order; a failure ends the reading.
class TarHandler {
  public:
    TarHandler() = default;
    TarHandler(const TarHandler&) = delete;
    TarHandler& operator=(const TarHandler&) = delete;
    virtual ~TarHandler() = default;

    [[nodiscard]] virtual Status begin(const TarEntry& entry) = 0;
    [[nodiscard]] virtual Status content(std::span<const std::uint8_t> bytes) = 0;  ///< of a file
    [[nodiscard]] virtual Status end() = 0;                                         ///< of a file
};

/// Holds one header and one long name at a time, whatever the tar's size. Feed all bytes, then finish.
class TarStream {
  public:
    /// `label` names the tar in messages.
    TarStream(TarHandler& handler, std::string label) : handler_(handler), label_(std::move(label)) {}

    /// Input failures: no tar, a wrong checksum, a path that leads out of the folder, sizes that no tar has,
    /// sparse files; and what the handler gives.
    [[nodiscard]] Status feed(std::span<const std::uint8_t> bytes);
    /// Input failure where the end of the archive did not come.
    [[nodiscard]] Status finish();

    static constexpr std::size_t kBlock = 512;

  private:
    /// The content that follows the header.
    enum class Body { none, file, long_name, long_link, pax, skipped };

    [[nodiscard]] Failure refused(std::string_view why) const;
    [[nodiscard]] Status header();
    [[nodiscard]] Status begin_entry(TarEntry entry, char type);
    [[nodiscard]] Status take(std::span<const std::uint8_t> bytes);
    [[nodiscard]] Status end_body();
    [[nodiscard]] Status pax_records();

    TarHandler& handler_;
    std::string label_;
    std::uint64_t position_ = 0;
    std::vector<std::uint8_t> block_;
    Body body_ = Body::none;
    std::uint64_t left_ = 0;     ///< of the body
    std::uint64_t padding_ = 0;  ///< behind it
    std::string text_;           ///< a body that belongs to the next header
    std::string long_name_;
    std::string long_link_;
    std::map<std::string, std::string> pax_;
    bool ended_ = false;
};

/// Does a file that begins like this (a block of it) look like a tar?
[[nodiscard]] bool looks_like_tar(std::span<const std::uint8_t> beginning);

}  // namespace cudamatrix::scan
