// Reads the device code of a file whose bytes go by once: a compressed member of a wheel, of a layer, of a
// tar.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "look/scan/container_stream.hpp"
#include "look/scan/library.hpp"

namespace cudamatrix::scan {

/// Bytes [begin, end) of a stream, kept as they go by.
class Capture {
  public:
    Capture() = default;
    Capture(std::uint64_t begin, std::uint64_t end) : begin_(begin), end_(end) {}

    /// `position`: where `bytes` lie in the stream.
    void feed(std::uint64_t position, std::span<const std::uint8_t> bytes);
    /// The part [offset, offset + length) of the stream; empty where it was not kept whole.
    [[nodiscard]] fatbin::Bytes at(std::uint64_t offset, std::uint64_t length) const;
    [[nodiscard]] bool complete() const { return bytes_.size() == end_ - begin_; }
    [[nodiscard]] std::uint64_t begin() const { return begin_; }
    [[nodiscard]] std::uint64_t end() const { return end_; }

  private:
    std::uint64_t begin_ = 0;
    std::uint64_t end_ = 0;
    std::vector<std::uint8_t> bytes_;
};

class ArchiveStream;

/// One pass, any order of the file's parts, and no more than 64 MiB of memory whatever the file's size: files
/// of up to 8 MiB are kept and read like files on disk; of larger ones what looks like a container is
/// collected, and confirmed by the section table, wherever that comes. Feed all bytes, then finish.
class StreamScanner {
  public:
    /// `size`: what the archive says the file has; more is refused, less is a file that is cut off.
    StreamScanner(std::uint64_t size, const Depth& depth);
    ~StreamScanner();
    StreamScanner(const StreamScanner&) = delete;
    StreamScanner& operator=(const StreamScanner&) = delete;

    void feed(std::span<const std::uint8_t> bytes);
    /// False as soon as it is certain that there is nothing to find: the rest need not be fed.
    [[nodiscard]] bool wants_more() const { return state_ != State::nothing; }
    /// What the file holds; nothing when it is none that holds device code.
    [[nodiscard]] std::optional<Library> finish(std::string path);

  private:
    enum class State { beginning, small, elf, containers, archive, nothing };

    void begin();
    void begin_elf();
    void feed_elf(std::span<const std::uint8_t> bytes);
    /// The section table went by: where are the names?
    void find_names();
    [[nodiscard]] fatbin::Bytes names() const;
    struct Section {
        std::string name;
        std::uint64_t offset = 0;
        std::uint64_t size = 0;
    };
    [[nodiscard]] std::vector<Section> sections(std::string& error) const;
    [[nodiscard]] Library finish_large(const std::string& path);
    [[nodiscard]] Library confirmed(const std::string& path, bool everywhere) const;

    std::uint64_t size_;
    Depth depth_;
    State state_ = State::beginning;
    std::uint64_t position_ = 0;
    std::string error_;
    std::vector<std::uint8_t> kept_;  ///< a small file, or the first bytes of a large one
    std::optional<ContainerStream> containers_;
    Capture table_;         ///< the section table
    Capture before_table_;  ///< where linkers put the names
    Capture behind_table_;  ///< where tools that move the table leave them
    std::uint64_t names_at_ = 0;
    std::uint64_t names_size_ = 0;
    std::unique_ptr<ArchiveStream> archive_;
};

}  // namespace cudamatrix::scan
