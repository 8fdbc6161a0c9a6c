// Reads zip archives (wheels) from any ByteSource: plans what to read from the central directory and refuses
// what lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.hpp"

namespace cudamatrix {

/// One file of an archive, as the central directory describes it.
struct ZipMember {
    std::string name;  ///< UTF-8, '/' between folders; never absolute, no "..", no control characters
    std::uint64_t compressed_size = 0;
    std::uint64_t size = 0;
    std::uint32_t crc = 0;
    std::uint16_t method = 0;         ///< 0 stored, 8 deflated; others can be listed but not read
    bool encrypted = false;           ///< can be listed but not read
    std::uint64_t header_offset = 0;  ///< of the local header
    std::uint64_t room_end = 0;       ///< offset at which the next member or the directory starts

    [[nodiscard]] bool is_folder() const { return name.ends_with('/'); }
};

/// A zip archive with zip64, without multiple discs and without encryption. Borrows the source, which has to
/// outlive it. Reading is as thread-safe as the source is.
class Zip {
  public:
    /// Reads the directory, the last part of the archive, and nothing else. `label` names the archive in
    /// messages. Input failures (exit code 2): no zip, truncated, members that overlap, share a name, have
    /// one that leads outside of a folder, or claim sizes that deflate cannot have or only a bomb has.
    /// Formats: PKWARE's APPNOTE 6.3 (4.3.6 to 4.3.16, 4.5.3).
    [[nodiscard]] static Result<Zip> open(ByteSource& source, std::string label);

    /// In the order of the archive's bytes.
    [[nodiscard]] std::span<const ZipMember> members() const { return members_; }
    [[nodiscard]] const ZipMember* find(std::string_view name) const;

    /// Hands the member's content to `sink` in order, at most 64 KiB at once, and holds no more of it. An
    /// input failure where local header, size or checksum disagree with the directory; what the sink got
    /// before is then worthless.
    [[nodiscard]] Status stream(const ZipMember& member, const ByteSink& sink) const;

    /// The whole member; more than `limit` bytes are an input failure before anything is read.
    [[nodiscard]] Result<std::string> text(const ZipMember& member, std::size_t limit) const;

    [[nodiscard]] const std::string& label() const { return label_; }

  private:
    Zip(ByteSource& source, std::string label, std::vector<ZipMember> members)
        : source_(&source), label_(std::move(label)), members_(std::move(members)) {}

    [[nodiscard]] Result<std::uint64_t> data_offset(const ZipMember& member) const;

    ByteSource* source_;
    std::string label_;
    std::vector<ZipMember> members_;
};

}  // namespace cudamatrix
