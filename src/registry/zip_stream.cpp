// The content of a member: stored or inflated, checked against what the directory says.
#include <algorithm>
#include <array>

#include "registry/inflate.hpp"
#include "registry/zip.hpp"
#include "registry/zip_bytes.hpp"

namespace cudamatrix {
namespace {

using namespace zip;

constexpr std::size_t kChunk = 64 * 1024;

std::string named(std::string_view label, const ZipMember& member) {
    return fmt::format("{} in {}", text::printable(member.name), text::printable(label));
}

Failure damaged(std::string_view label, const ZipMember& member, std::string_view why) {
    return input_failure(fmt::format("{} is damaged: {}", named(label, member), why),
                         "download it again, and compare its sha256 with the one that the index gives");
}

// Counts and sums what goes to the sink, and never lets more through than the directory announced.
class Checked {
  public:
    Checked(std::string_view label, const ZipMember& member, const ByteSink& sink)
        : label_(label), member_(member), sink_(sink) {}

    Status take(Bytes bytes) {
        if (bytes.size() > member_.size - given_)
            return damaged(label_, member_,
                           fmt::format("it has more than the {} bytes announced", member_.size));
        given_ += bytes.size();
        crc_ = crc32(crc_, bytes);
        return bytes.empty() ? Status(Done{}) : sink_(bytes);
    }
    Status finish() const {
        if (given_ != member_.size)
            return damaged(label_, member_,
                           fmt::format("it has {} bytes, {} are announced", given_, member_.size));
        if (crc_ != member_.crc)
            return damaged(label_, member_,
                           fmt::format("its CRC-32 is {:08x}, {:08x} is announced", crc_, member_.crc));
        return Done{};
    }

  private:
    std::string_view label_;
    const ZipMember& member_;
    const ByteSink& sink_;
    std::uint64_t given_ = 0;
    std::uint32_t crc_ = 0;
};

}  // namespace

Result<std::uint64_t> Zip::data_offset(const ZipMember& member) const {
    std::vector<std::uint8_t> header(kLocalHeaderSize + member.name.size());
    CM_TRY(source_->read(member.header_offset, header));
    const Bytes bytes = header;
    if (u32(bytes, 0) != kLocalHeader) return damaged(label_, member, "it has no local header");
    if (u16(bytes, 26) != member.name.size() || chars(bytes.subspan(kLocalHeaderSize)) != member.name)
        return damaged(label_, member, "its local header names another file");
    if (u16(bytes, 8) != member.method)
        return damaged(label_, member, "its local header names another compression method");
    const auto offset = member.header_offset + header.size() + u16(bytes, 28);
    if (offset > member.room_end || member.room_end - offset < member.compressed_size)
        return damaged(label_, member, "its data overlaps what follows");
    return offset;
}

Status Zip::stream(const ZipMember& member, const ByteSink& sink) const {
    if (member.encrypted)
        return input_failure(fmt::format("{} is encrypted, which is not supported", named(label_, member)));
    if (member.method != 0 && member.method != 8) {
        return input_failure(
            fmt::format("{} is compressed by method {}: stored (0) and deflate (8) are supported",
                        named(label_, member), member.method));
    }
    CM_TRY_ASSIGN(const auto start, data_offset(member));
    Checked out(label_, member, sink);
    Inflater inflater(Inflater::Format::raw);
    if (!inflater.ready()) return environment_failure("zlib cannot be started");
    const ByteSink take = [&out](Bytes bytes) { return out.take(bytes); };
    std::array<std::uint8_t, kChunk> buffer;
    bool ended = member.method == 0;
    for (std::uint64_t done = 0; done < member.compressed_size;) {
        const auto size =
            static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, member.compressed_size - done));
        const std::span piece(buffer.data(), size);
        CM_TRY(source_->read(start + done, piece));
        done += size;
        if (member.method == 0) {
            CM_TRY(out.take(piece));
            continue;
        }
        CM_TRY_ASSIGN(const auto state, inflater.feed(piece, take));
        if (state == Inflater::State::broken) return damaged(label_, member, "its deflate stream is broken");
        ended = state == Inflater::State::ended;
        if (ended && (done < member.compressed_size || inflater.unused() != 0))
            return damaged(label_, member, "bytes follow the end of its deflate stream");
    }
    if (!ended) return damaged(label_, member, "its deflate stream ends too early");
    return out.finish();
}

Result<std::string> Zip::text(const ZipMember& member, std::size_t limit) const {
    if (member.size > limit) {
        return input_failure(fmt::format("{} has {}, at most {} are read", named(label_, member),
                                         text::human_bytes(member.size), text::human_bytes(limit)));
    }
    std::string content;
    content.reserve(static_cast<std::size_t>(member.size));
    auto streamed = stream(member, [&](Bytes bytes) -> Status {
        content += chars(bytes);
        return Done{};
    });
    if (!streamed.ok()) return std::move(streamed).failure();
    return content;
}

}  // namespace cudamatrix
