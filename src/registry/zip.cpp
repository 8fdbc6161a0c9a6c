#include "registry/zip.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <unordered_set>

#include "base/text.hpp"
#include "registry/inflate.hpp"

namespace cudamatrix {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDirectoryEntry = 0x02014b50;
constexpr std::uint32_t kDirectoryEnd = 0x06054b50;
constexpr std::uint32_t kDirectoryEnd64 = 0x06064b50;
constexpr std::uint32_t kDirectoryEnd64Locator = 0x07064b50;

constexpr std::size_t kLocalHeaderSize = 30;
constexpr std::size_t kDirectoryEntrySize = 46;
constexpr std::size_t kDirectoryEndSize = 22;
constexpr std::size_t kDirectoryEnd64Size = 56;
constexpr std::size_t kDirectoryEnd64LocatorSize = 20;

// The little-endian number at `at`; the caller has checked that its bytes are there.
template <class T>
T little_endian(Bytes bytes, std::size_t at) {
    T value = 0;
    for (std::size_t i = sizeof(T); i-- > 0;)
        value = static_cast<T>(value << 8 | bytes[at + i]);
    return value;
}
constexpr auto u16 = little_endian<std::uint16_t>;
constexpr auto u32 = little_endian<std::uint32_t>;
constexpr auto u64 = little_endian<std::uint64_t>;
std::string_view chars(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

constexpr const char* kLoadAgain =
    "download it again, and compare its sha256 with the one that the index gives";

Failure refused(std::string_view label, std::string_view why) {
    return input_failure(fmt::format("cannot read {} as a zip archive: {}", text::printable(label), why),
                         kLoadAgain);
}

// Far above every wheel (the largest directories are those of torch, 1 to 3 MB), far below what hurts.
constexpr std::uint64_t kLargestDirectory = 32u << 20;
constexpr std::uint64_t kLargestComment = 0xffff;
// Deflate gives at most 1032 bytes for one (RFC 1951: 258 bytes in two bits). One file may come near that:
// an image of zeros for a test (nibabel 2.0.0: 59 MB from 62 kB), a library with holes between its segments
// (av 19.0.2, nvidia-cudnn-cu12 9.28.0.42: 8 MB from 14 kB). A whole wheel does not (27 with that image), and
// no such file is larger.
constexpr std::uint64_t kDeflateRatio = 1032;
constexpr std::uint64_t kBombRatio = 250;
constexpr std::uint64_t kBombMember = 64u << 20;
constexpr std::uint64_t kBombArchive = 4u << 20;

struct Directory {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t entries = 0;
    std::uint64_t end = 0;  ///< where the first of the end records starts
};

Result<std::vector<std::uint8_t>> bytes_at(ByteSource& source, std::uint64_t offset, std::uint64_t size) {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
    CM_TRY(source.read(offset, bytes));
    return bytes;
}

// Of zip64 archives the numbers stand in a second record, which a locator before the classic one points to.
Result<Directory> wide_directory(ByteSource& source, const std::string& label, std::uint64_t end_at) {
    if (end_at < kDirectoryEnd64LocatorSize + kDirectoryEnd64Size)
        return refused(label, "its zip64 end record is missing");
    const auto locator_at = end_at - kDirectoryEnd64LocatorSize;
    CM_TRY_ASSIGN(auto locator, bytes_at(source, locator_at, kDirectoryEnd64LocatorSize));
    if (u32(locator, 0) != kDirectoryEnd64Locator) return refused(label, "its zip64 end record is missing");
    const auto at = u64(locator, 8);
    if (u32(locator, 4) != 0 || u32(locator, 16) > 1) return refused(label, "it spreads over several discs");
    if (at > locator_at - kDirectoryEnd64Size)
        return refused(label, "its zip64 end record is after its locator");
    CM_TRY_ASSIGN(auto record, bytes_at(source, at, kDirectoryEnd64Size));
    const Bytes end = record;
    if (u32(end, 0) != kDirectoryEnd64 || u64(end, 4) != locator_at - at - 12)
        return refused(label, "its zip64 end record is damaged");
    if (u32(end, 16) != 0 || u32(end, 20) != 0 || u64(end, 24) != u64(end, 32))
        return refused(label, "it spreads over several discs");
    return Directory{u64(end, 48), u64(end, 40), u64(end, 32), at};
}

// The end record: the last one whose comment reaches exactly to the end of the archive.
Result<Directory> find_directory(ByteSource& source, const std::string& label) {
    const auto size = source.size();
    if (size < kDirectoryEndSize)
        return refused(label, fmt::format("it has {} bytes, and the smallest archive has 22", size));
    const auto tail_size = std::min<std::uint64_t>(size, kDirectoryEndSize + kLargestComment);
    CM_TRY_ASSIGN(auto tail, bytes_at(source, size - tail_size, tail_size));
    const Bytes bytes = tail;
    std::optional<std::size_t> found;
    for (auto at = bytes.size() - kDirectoryEndSize + 1; at-- > 0 && !found;) {
        if (u32(bytes, at) == kDirectoryEnd && at + kDirectoryEndSize + u16(bytes, at + 20) == bytes.size()) {
            found = at;
        }
    }
    if (!found) return refused(label, "it has no end record (it is truncated, or it is something else)");
    const auto end_at = size - tail_size + *found;
    const auto end = bytes.subspan(*found, kDirectoryEndSize);
    if (u16(end, 8) == 0xffff || u16(end, 10) == 0xffff || u32(end, 12) == 0xffffffff ||
        u32(end, 16) == 0xffffffff) {
        return wide_directory(source, label, end_at);
    }
    if (u16(end, 4) != 0 || u16(end, 6) != 0 || u16(end, 8) != u16(end, 10))
        return refused(label, "it spreads over several discs");
    return Directory{u32(end, 16), u32(end, 12), u16(end, 10), end_at};
}

std::optional<std::string> mistake_in_name(std::string_view name) {
    if (name.empty()) return "a member has no name";
    const auto shown = text::printable(name.substr(0, 200));
    const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (std::any_of(name.begin(), name.end(), control))
        return fmt::format("the name of a member has control characters: '{}'", shown);
    if (text::invalid_utf8(name)) return fmt::format("the name of a member is not UTF-8: '{}'", shown);
    if (name.front() == '/') return fmt::format("the name of a member is an absolute path: '{}'", shown);
    for (const auto& part : text::split(name, '/')) {
        if (part == "..") return fmt::format("the name of a member leads out of its folder: '{}'", shown);
    }
    return std::nullopt;
}

// Values that do not fit their classic field stand in the zip64 extra field, in this order and only those.
bool widen(ZipMember& member, Bytes extra, const std::array<bool, 3>& wanted) {
    const std::array<std::uint64_t*, 3> fields{&member.size, &member.compressed_size, &member.header_offset};
    for (std::size_t at = 0, length = 0; at + 4 <= extra.size(); at += 4 + length) {
        length = u16(extra, at + 2);
        if (at + 4 + length > extra.size()) return false;
        if (u16(extra, at) != 1) continue;
        const auto body = extra.subspan(at + 4, length);
        std::size_t next = 0;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (!wanted[i]) continue;
            if (next + 8 > body.size()) return false;
            *fields[i] = u64(body, next);
            next += 8;
        }
        return true;
    }
    return false;
}

std::optional<std::string> mistake_in_sizes(const ZipMember& member) {
    if (member.method == 0 && member.size != member.compressed_size && !member.encrypted)
        return fmt::format("'{}' is stored, yet has {} bytes in the archive and {} outside of it",
                           member.name, member.compressed_size, member.size);
    if (member.method != 8) return std::nullopt;
    const auto ratio_above = [&](std::uint64_t ratio) {
        return member.size / ratio > member.compressed_size;
    };
    if (ratio_above(kDeflateRatio))
        return fmt::format("'{}' claims {} from {}, which deflate cannot give", member.name,
                           text::human_bytes(member.size), text::human_bytes(member.compressed_size));
    if (member.size > kBombMember && ratio_above(kBombRatio))
        return fmt::format("'{}' is a bomb: {} from {}", member.name, text::human_bytes(member.size),
                           text::human_bytes(member.compressed_size));
    return std::nullopt;
}

std::optional<std::string> mistake_in_total(const std::vector<ZipMember>& members) {
    std::uint64_t size = 0, compressed = 0;
    for (const auto& member : members) {
        if (member.method != 8) continue;
        // A claim that would wrap the sum is above every limit.
        size += std::min(member.size, std::numeric_limits<std::uint64_t>::max() - size);
        compressed +=
            std::min(member.compressed_size, std::numeric_limits<std::uint64_t>::max() - compressed);
    }
    if (size <= kBombArchive || size / kBombRatio <= compressed) return std::nullopt;
    return fmt::format("it is a bomb: {} from {}", text::human_bytes(size), text::human_bytes(compressed));
}

Result<std::vector<ZipMember>> parse_directory(Bytes bytes, const Directory& directory,
                                               const std::string& label) {
    std::vector<ZipMember> members;
    std::size_t at = 0;
    for (std::uint64_t i = 0; i < directory.entries; ++i) {
        const auto truncated = [&] {
            return refused(label,
                           fmt::format("its directory ends in member {} of {}", i + 1, directory.entries));
        };
        if (bytes.size() - at < kDirectoryEntrySize) return truncated();
        const auto entry = bytes.subspan(at);
        if (u32(entry, 0) != kDirectoryEntry)
            return refused(label, fmt::format("its directory is damaged at member {}", i + 1));
        const std::size_t name_size = u16(entry, 28);
        const std::size_t extra_size = u16(entry, 30);
        const std::size_t whole = kDirectoryEntrySize + name_size + extra_size + u16(entry, 32);
        if (entry.size() < whole) return truncated();
        ZipMember member;
        member.name = chars(entry.subspan(kDirectoryEntrySize, name_size));
        if (auto mistake = mistake_in_name(member.name)) return refused(label, *mistake);
        member.encrypted = (u16(entry, 8) & 1) != 0;
        member.method = u16(entry, 10);
        member.crc = u32(entry, 16);
        member.compressed_size = u32(entry, 20);
        member.size = u32(entry, 24);
        member.header_offset = u32(entry, 42);
        const std::array<bool, 3> wide{member.size == 0xffffffff, member.compressed_size == 0xffffffff,
                                       member.header_offset == 0xffffffff};
        if ((wide[0] || wide[1] || wide[2]) &&
            !widen(member, entry.subspan(kDirectoryEntrySize + name_size, extra_size), wide))
            return refused(label, fmt::format("the zip64 sizes of '{}' are missing", member.name));
        if (auto mistake = mistake_in_sizes(member)) return refused(label, *mistake);
        members.push_back(std::move(member));
        at += whole;
    }
    if (at != bytes.size())
        return refused(label,
                       fmt::format("its directory has {} bytes after its last member", bytes.size() - at));
    if (auto mistake = mistake_in_total(members)) return refused(label, *mistake);
    return members;
}

// Each member has its own bytes: header, name and data, before those of the next one.
Status give_room(std::vector<ZipMember>& members, const Directory& directory, const std::string& label) {
    std::sort(members.begin(), members.end(),
              [](const ZipMember& a, const ZipMember& b) { return a.header_offset < b.header_offset; });
    for (std::size_t i = 0; i < members.size(); ++i) {
        auto& member = members[i];
        const bool last = i + 1 == members.size();
        member.room_end = last ? directory.offset : members[i + 1].header_offset;
        const auto least = kLocalHeaderSize + member.name.size();
        // Subtractions only: a sum of claimed sizes can wrap round.
        if (member.header_offset > member.room_end || member.room_end - member.header_offset < least ||
            member.room_end - member.header_offset - least < member.compressed_size) {
            return refused(label, last ? fmt::format("'{}' overlaps the directory", member.name)
                                       : fmt::format("'{}' overlaps '{}'", member.name, members[i + 1].name));
        }
    }
    std::unordered_set<std::string_view> names;
    for (const auto& member : members) {
        if (!names.insert(member.name).second)
            return refused(label, fmt::format("two members are named '{}'", member.name));
    }
    return Done{};
}

constexpr std::size_t kPart = 64 * 1024;

std::string named(std::string_view label, const ZipMember& member) {
    return fmt::format("{} in {}", text::printable(member.name), text::printable(label));
}

Failure damaged(std::string_view label, const ZipMember& member, std::string_view why) {
    return input_failure(fmt::format("{} is damaged: {}", named(label, member), why), kLoadAgain);
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

Result<Zip> Zip::open(ByteSource& source, std::string label) {
    CM_TRY_ASSIGN(auto directory, find_directory(source, label));
    if (directory.offset > directory.end || directory.size != directory.end - directory.offset)
        return refused(label, "its directory is not where its end record says");
    if (directory.size > kLargestDirectory)
        return refused(
            label, fmt::format("its directory has {}, at most {} are read", text::human_bytes(directory.size),
                               text::human_bytes(kLargestDirectory)));
    if (directory.entries > directory.size / kDirectoryEntrySize)
        return refused(label, fmt::format("its directory is too short for {} members", directory.entries));
    CM_TRY_ASSIGN(auto bytes, bytes_at(source, directory.offset, directory.size));
    CM_TRY_ASSIGN(auto members, parse_directory(bytes, directory, label));
    CM_TRY(give_room(members, directory, label));
    return Zip(source, std::move(label), std::move(members));
}

const ZipMember* Zip::find(std::string_view name) const {
    const auto found = std::find_if(members_.begin(), members_.end(),
                                    [&](const ZipMember& member) { return member.name == name; });
    return found == members_.end() ? nullptr : &*found;
}

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
    if (member.method != 0 && member.method != 8)
        return input_failure(
            fmt::format("{} is compressed by method {}: stored (0) and deflate (8) are supported",
                        named(label_, member), member.method));
    CM_TRY_ASSIGN(const auto start, data_offset(member));
    Checked out(label_, member, sink);
    Inflater inflater(Inflater::Format::raw);
    if (!inflater.ready()) return environment_failure("zlib cannot be started");
    const ByteSink take = [&out](Bytes bytes) { return out.take(bytes); };
    std::array<std::uint8_t, kPart> buffer;
    bool ended = member.method == 0;
    for (std::uint64_t done = 0; done < member.compressed_size;) {
        const auto size =
            static_cast<std::size_t>(std::min<std::uint64_t>(kPart, member.compressed_size - done));
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
    if (member.size > limit)
        return input_failure(fmt::format("{} has {}, at most {} are read", named(label_, member),
                                         text::human_bytes(member.size), text::human_bytes(limit)));
    std::string content;
    content.reserve(static_cast<std::size_t>(member.size));
    CM_TRY(stream(member, [&](Bytes bytes) -> Status {
        content += chars(bytes);
        return Done{};
    }));
    return content;
}

}  // namespace cudamatrix
