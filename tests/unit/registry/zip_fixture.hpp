// Archives made byte by byte, so that each of them can lie in one place.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.hpp"

namespace cudamatrix::test {

inline std::string le(std::uint64_t value, std::size_t size) {
    std::string out;
    for (std::size_t i = 0; i < size; ++i)
        out += static_cast<char>(value >> (8 * i) & 0xff);
    return out;
}

inline std::uint32_t crc(std::string_view text) {
    return static_cast<std::uint32_t>(
        ::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
}

inline std::string deflated(std::string_view text) {
    z_stream stream{};
    ::deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    std::string out(::deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    ::deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    ::deflateEnd(&stream);
    return out;
}

/// One member; what is set lies instead of being computed.
struct Entry {
    std::string name = {};
    std::string content = {};
    bool stored = false;
    std::uint16_t method = 0xffff;  ///< not set
    std::uint16_t flags = 0;
    std::optional<std::uint32_t> crc_lie = {};
    std::optional<std::uint64_t> size_lie = {};
    std::optional<std::uint64_t> compressed_lie = {};
    std::optional<std::uint64_t> offset_lie = {};
    std::string local_name = {};  ///< of the local header, where it differs
    std::string local_extra = {};
    std::string raw = {};  ///< compressed bytes, where they are not made of the content
    bool wide = false;     ///< sizes in the zip64 field
};

struct ZipLies {
    std::string comment = {};
    std::string before_end = {};  ///< between directory and end record
    std::optional<std::uint64_t> directory_size = {};
    std::optional<std::uint64_t> directory_offset = {};
    std::optional<std::uint64_t> count = {};
    std::uint16_t disc = 0;
    bool wide = false;  ///< a zip64 end record
};

inline std::string make_zip(const std::vector<Entry>& entries, const ZipLies& lies = {}) {
    std::string out;
    std::string directory;
    for (const auto& entry : entries) {
        const auto offset = entry.offset_lie.value_or(out.size());
        auto data = entry.stored ? entry.content : deflated(entry.content);
        if (!entry.raw.empty()) data = entry.raw;
        const auto method = static_cast<std::uint16_t>(entry.method != 0xffff ? entry.method
                                                       : entry.stored         ? 0
                                                                              : 8);
        const auto sum = entry.crc_lie.value_or(crc(entry.content));
        const auto size = entry.size_lie.value_or(entry.content.size());
        const auto compressed = entry.compressed_lie.value_or(data.size());
        const auto local_name = entry.local_name.empty() ? entry.name : entry.local_name;
        out += "PK\3\4" + le(20, 2) + le(entry.flags, 2) + le(method, 2) + le(0, 4) + le(sum, 4) +
               le(compressed & 0xffffffff, 4) + le(size & 0xffffffff, 4) + le(local_name.size(), 2) +
               le(entry.local_extra.size(), 2) + local_name + entry.local_extra + data;
        const auto extra =
            entry.wide ? le(1, 2) + le(24, 2) + le(size, 8) + le(compressed, 8) + le(offset, 8) : "";
        const auto shown = [&](std::uint64_t value) { return le(entry.wide ? 0xffffffff : value, 4); };
        directory += "PK\1\2" + le(20, 2) + le(20, 2) + le(entry.flags, 2) + le(method, 2) + le(0, 4) +
                     le(sum, 4) + shown(compressed) + shown(size) + le(entry.name.size(), 2) +
                     le(extra.size(), 2) + le(0, 2) + le(0, 2) + le(0, 2) + le(0, 4) + shown(offset) +
                     entry.name + extra;
    }
    const auto offset = lies.directory_offset.value_or(out.size());
    const auto size = lies.directory_size.value_or(directory.size());
    const auto count = lies.count.value_or(entries.size());
    out += directory + lies.before_end;
    if (lies.wide) {
        const auto at = out.size();
        out += "PK\6\6" + le(44, 8) + le(45, 2) + le(45, 2) + le(lies.disc, 4) + le(0, 4) + le(count, 8) +
               le(count, 8) + le(size, 8) + le(offset, 8);
        out += "PK\6\7" + le(0, 4) + le(at, 8) + le(1, 4);
        out += "PK\5\6" + le(0, 4) + le(0xffff, 2) + le(0xffff, 2) + le(0xffffffff, 4) + le(0xffffffff, 4);
    } else {
        out += "PK\5\6" + le(lies.disc, 2) + le(0, 2) + le(count, 2) + le(count, 2) + le(size, 4) +
               le(offset, 4);
    }
    return out + le(lies.comment.size(), 2) + lies.comment;
}

class MemorySource final : public ByteSource {
  public:
    explicit MemorySource(std::string bytes) : bytes_(std::move(bytes)) {}
    [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
    [[nodiscard]] Status read(std::uint64_t offset, std::span<std::uint8_t> into) override {
        if (offset > bytes_.size() || into.size() > bytes_.size() - offset)
            return input_failure("memory: read behind the end");
        if (!into.empty()) std::memcpy(into.data(), bytes_.data() + offset, into.size());
        most_at_once = std::max<std::size_t>(most_at_once, into.size());
        return Done{};
    }
    std::size_t most_at_once = 0;

  private:
    std::string bytes_;
};

}  // namespace cudamatrix::test
