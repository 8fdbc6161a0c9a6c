#include "fatbin/container.hpp"

#include <algorithm>
#include <cstdio>

namespace cudamatrix::fatbin {
namespace {

constexpr std::uint16_t kKindPtx = 1;
constexpr std::uint16_t kKindLto = 8;  // nvcc -dlto and code=lto_NN of 13.0, cuFFT and cuSPARSE built by 12.x
constexpr std::uint64_t kFlagCompressed = 0x2000 | 0x8000;  // LZ4 (11.x, 12.x), zstd (13.x)
constexpr std::uint64_t kFlagSpecific = 0x100000;
constexpr std::uint64_t kFlagFamily = 0x200000;

bool all_zero(Bytes bytes) {
    return std::all_of(bytes.data, bytes.data + bytes.size, [](auto b) { return b == 0; });
}

/// Reads the entries of one container body; false and contents.error on a fault.
bool read_entries(Bytes body, std::string_view section, const std::string& where, Contents& contents) {
    for (std::uint64_t at = 0; at < body.size;) {
        const auto fault = [&](const std::string& what) {
            contents.error = where + ", entry at " + hex(at) + ": " + what;
            return false;
        };
        if (!body.contains(at, kEntryHeader)) {
            // Containers are padded with zeros up to 8 bytes; anything else is cut off.
            const Bytes rest = body.sub(at, body.size - at);
            if (rest.size < 8 && all_zero(rest)) return true;
            return fault("header cut off, " + std::to_string(rest.size) + " of 64 bytes left");
        }
        auto [header_size, entry] = read_entry_header(body.sub(at, kEntryHeader));
        if (header_size < kEntryHeader || !body.contains(at, header_size))
            return fault("header of " + std::to_string(header_size) + " bytes");
        if (!body.contains(at + header_size, entry.payload))
            return fault("payload of " + std::to_string(entry.payload) + " bytes, " +
                         std::to_string(body.size - at - header_size) + " left");
        if (contents.entries.size() >= kMostEntries)
            return fault("more than " + std::to_string(kMostEntries) + " entries in one file");
        entry.bytes = body.sub(at + header_size, entry.payload);
        entry.section = section;
        entry.container = contents.containers;
        contents.entries.push_back(entry);
        at += header_size + entry.payload;
    }
    return true;
}

}  // namespace

std::string hex(std::uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

std::optional<ContainerHeader> read_container_header(Bytes header) {
    if (header.size < kContainerHeader || header.number<std::uint32_t>(0) != kContainerMagic ||
        header.number<std::uint16_t>(4) != 1 || header.number<std::uint16_t>(6) < kContainerHeader) {
        return std::nullopt;
    }
    return ContainerHeader{header.number<std::uint16_t>(6), header.number<std::uint64_t>(8)};
}

EntryHeader read_entry_header(Bytes header) {
    EntryHeader result;
    result.header_size = header.number<std::uint32_t>(4);
    Entry& entry = result.entry;
    entry.raw_kind = header.number<std::uint16_t>(0);
    entry.payload = header.number<std::uint64_t>(8);
    const auto flags = header.number<std::uint64_t>(40);
    const Variant variant = (flags & kFlagSpecific) != 0 ? Variant::specific
                            : (flags & kFlagFamily) != 0 ? Variant::family
                                                         : Variant::base;
    entry.arch = arch_from_number(header.number<std::uint32_t>(28), variant);
    entry.compressed = header.number<std::uint32_t>(16) != 0 || (flags & kFlagCompressed) != 0;
    if (entry.raw_kind == kKindPtx) {
        entry.kind = Kind::ptx;
        entry.isa = {header.number<std::uint16_t>(26), header.number<std::uint16_t>(24)};
    } else if (entry.raw_kind == kRawSass) {
        entry.kind = Kind::sass;  // the version field of a cubin is that of its format, not of PTX
    } else if (entry.raw_kind == kKindLto) {
        entry.kind = Kind::lto;
    }
    return result;
}

std::optional<std::uint64_t> read_container(Bytes bytes, std::uint64_t at, std::uint64_t base,
                                            std::string_view section, Contents& contents) {
    const std::string label = section.empty() ? std::string("fat binary") : "section " + std::string(section);
    const std::string where = label + ", container at " + hex(at);
    const auto fault = [&](const std::string& what) {
        contents.error = where + ": " + what;
        return std::nullopt;
    };
    const Bytes rest = bytes.sub(at, bytes.size - at);
    if (rest.size < kContainerHeader)
        return fault("header cut off, " + std::to_string(rest.size) + " of 16 bytes left");
    if (const auto magic = rest.number<std::uint32_t>(0); magic != kContainerMagic)
        return fault("magic number " + hex(magic) + ", expected 0xba55ed50");
    const auto header = read_container_header(rest);
    if (!header)
        return fault("version " + std::to_string(rest.number<std::uint16_t>(4)) + " with a header of " +
                     std::to_string(rest.number<std::uint16_t>(6)) + " bytes, expected version 1 with 16");
    if (!rest.contains(0, header->header_size) || !rest.contains(header->header_size, header->body_size))
        return fault("body of " + std::to_string(header->body_size) + " bytes does not fit, " +
                     std::to_string(rest.size) + " bytes left");
    if (contents.containers >= kMostEntries)
        return fault("more than " + std::to_string(kMostEntries) + " containers in one file");
    const Bytes body = rest.sub(header->header_size, header->body_size);
    if (!read_entries(body, section, where, contents)) return std::nullopt;
    ++contents.containers;
    contents.places.push_back({base + at, header->header_size + header->body_size});
    return at + header->header_size + header->body_size;
}

void read_section(Bytes bytes, std::uint64_t base, std::string_view section, Contents& contents) {
    for (std::uint64_t at = 0; at < bytes.size;) {
        const Bytes rest = bytes.sub(at, bytes.size - at);
        if (rest.size < kContainerHeader && all_zero(rest)) return;
        if (rest.size >= kContainerHeader && all_zero(rest.sub(0, 8))) {
            at += 8;
            continue;
        }
        const auto behind = read_container(bytes, at, base, section, contents);
        if (!behind) return;
        at = (*behind + 7) / 8 * 8;
    }
}

}  // namespace cudamatrix::fatbin
