// Reads zip archives (wheels) from any ByteSource, and refuses those that lie.
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

/// A zip archive, also zip64, on one disc and without encryption. Borrows the source, which has to outlive
/// it.
class Zip {
  public:
    /// Reads the directory at the archive's end and nothing else (PKWARE's APPNOTE 6.3, 4.3.6 to 4.3.16
    /// and 4.5.3). Input failures, which name `label`: no zip, truncated, members that overlap, share a name,
    /// have one that leads out of a folder, or claim sizes that deflate cannot give or only a bomb has.
    [[nodiscard]] static Result<Zip> open(ByteSource& source, std::string label);

    /// In the order of the archive's bytes.
    [[nodiscard]] std::span<const ZipMember> members() const { return members_; }
    [[nodiscard]] const ZipMember* find(std::string_view name) const;

    /// Hands the member's content to `sink`, at most 64 KiB at once. An input failure where local header,
    /// size or checksum disagree with the directory; what the sink got before is then worthless.
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
