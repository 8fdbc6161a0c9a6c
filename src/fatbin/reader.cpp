#include "fatbin/reader.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <tuple>
#include <utility>

#include "fatbin/elf.hpp"

namespace cudamatrix::fatbin {
namespace {

constexpr std::uint32_t kContainerMagic = 0xBA55ED50;
constexpr std::uint64_t kContainerHeader = 16;
constexpr std::uint64_t kEntryHeader = 64;  // shortest one seen; longer ones append fields
constexpr std::uint16_t kKindPtx = 1;
constexpr std::uint16_t kKindSass = 2;
constexpr std::uint64_t kFlagCompressed = 0x2000 | 0x8000;  // LZ4 (11.x, 12.x), zstd (13.x)
constexpr std::uint64_t kFlagSpecific = 0x100000;
constexpr std::uint64_t kFlagFamily = 0x200000;

std::string hex(std::uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

Entry decode_entry(Bytes header, Bytes payload) {
    Entry entry;
    entry.raw_kind = header.number<std::uint16_t>(0);
    const auto flags = header.number<std::uint64_t>(40);
    const Variant variant = (flags & kFlagSpecific) != 0 ? Variant::specific
                            : (flags & kFlagFamily) != 0 ? Variant::family
                                                         : Variant::base;
    entry.arch = arch_from_number(header.number<std::uint32_t>(28), variant);
    entry.compressed = header.number<std::uint32_t>(16) != 0 || (flags & kFlagCompressed) != 0;
    entry.payload = payload.size;
    entry.bytes = payload;
    if (entry.raw_kind == kKindPtx) {
        entry.kind = Kind::ptx;
        entry.isa = {header.number<std::uint16_t>(26), header.number<std::uint16_t>(24)};
    } else if (entry.raw_kind == kKindSass) {
        entry.kind = Kind::sass;  // the version field of a cubin is that of its format, not of PTX
    }
    return entry;
}

/// Reads the entries of one container body; false and contents.error on a fault.
bool read_container(Bytes body, std::string_view section, const std::string& where, Contents& contents) {
    for (std::uint64_t at = 0; at < body.size;) {
        const std::string here = where + ", entry at " + hex(at);
        if (!body.contains(at, kEntryHeader)) {
            // Containers are padded with zeros up to 8 bytes; anything else is cut off.
            const Bytes rest = body.sub(at, body.size - at);
            if (rest.size < 8 &&
                std::all_of(rest.data, rest.data + rest.size, [](auto b) { return b == 0; })) {
                return true;
            }
            contents.error = here + ": header cut off, " + std::to_string(rest.size) + " of 64 bytes left";
            return false;
        }
        const auto header_size = body.number<std::uint32_t>(at + 4);
        const auto payload_size = body.number<std::uint64_t>(at + 8);
        if (header_size < kEntryHeader || !body.contains(at, header_size)) {
            contents.error = here + ": header of " + std::to_string(header_size) + " bytes";
            return false;
        }
        if (!body.contains(at + header_size, payload_size)) {
            contents.error = here + ": payload of " + std::to_string(payload_size) + " bytes, " +
                             std::to_string(body.size - at - header_size) + " left";
            return false;
        }
        Entry entry = decode_entry(body.sub(at, header_size), body.sub(at + header_size, payload_size));
        entry.section = section;
        entry.container = contents.containers;
        contents.entries.push_back(entry);
        at += header_size + payload_size;
    }
    return true;
}

/// Containers follow each other on 8-byte boundaries; zeros between them are padding.
void read_section(Bytes bytes, std::string_view section, Contents& contents) {
    const std::string label = section.empty() ? std::string("fat binary") : "section " + std::string(section);
    for (std::uint64_t at = 0; at < bytes.size;) {
        const std::string where = label + ", container at " + hex(at);
        if (!bytes.contains(at, kContainerHeader)) {
            const Bytes rest = bytes.sub(at, bytes.size - at);
            if (std::any_of(rest.data, rest.data + rest.size, [](auto b) { return b != 0; })) {
                contents.error =
                    where + ": header cut off, " + std::to_string(rest.size) + " of 16 bytes left";
            }
            return;
        }
        const auto magic = bytes.number<std::uint32_t>(at);
        if (magic == 0 && bytes.number<std::uint32_t>(at + 4) == 0) {
            at += 8;
            continue;
        }
        const auto version = bytes.number<std::uint16_t>(at + 4);
        const auto header_size = bytes.number<std::uint16_t>(at + 6);
        const auto body_size = bytes.number<std::uint64_t>(at + 8);
        if (magic != kContainerMagic) {
            contents.error = where + ": magic number " + hex(magic) + ", expected 0xba55ed50";
            return;
        }
        if (version != 1 || header_size < kContainerHeader) {
            contents.error = where + ": version " + std::to_string(version) + " with a header of " +
                             std::to_string(header_size) + " bytes, expected version 1 with 16";
            return;
        }
        if (!bytes.contains(at, header_size) || !bytes.contains(at + header_size, body_size)) {
            contents.error = where + ": body of " + std::to_string(body_size) + " bytes does not fit, " +
                             std::to_string(bytes.size - at) + " bytes left";
            return;
        }
        if (!read_container(bytes.sub(at + header_size, body_size), section, where, contents)) return;
        ++contents.containers;
        at += header_size + body_size;
        at = (at + 7) / 8 * 8;
    }
}

/// A bare cubin tells its architecture in the ELF flags, in one of two layouts.
void read_cubin(Bytes file, const ElfFile& elf, Contents& contents) {
    Entry entry;
    entry.kind = Kind::sass;
    entry.raw_kind = kKindSass;
    entry.payload = file.size;
    entry.bytes = file;
    constexpr std::uint8_t kNewAbi = 0x41;  // since CUDA 13.0
    if (elf.os_abi == kNewAbi) {
        entry.arch = arch_from_number((elf.flags >> 8) & 0xff);
    } else {
        const bool specific = (elf.flags & 0x800) != 0;
        entry.arch = arch_from_number(elf.flags & 0xff, specific ? Variant::specific : Variant::base);
    }
    contents.entries.push_back(entry);
    contents.containers = 1;
}

template <typename Keep>
std::vector<Entry> entries_of_containers(const Contents& contents, Keep keep) {
    std::vector<Entry> kept;
    for (std::size_t begin = 0; begin < contents.entries.size();) {
        std::size_t end = begin;
        while (end < contents.entries.size() &&
               contents.entries[end].container == contents.entries[begin].container) {
            ++end;
        }
        const auto* first = contents.entries.data() + begin;
        const auto* last = contents.entries.data() + end;
        if (keep(first, last)) kept.insert(kept.end(), first, last);
        begin = end;
    }
    return kept;
}

}  // namespace

Contents read(Bytes file) {
    Contents contents;
    if (file.size >= 4 && file.number<std::uint32_t>(0) == kContainerMagic) {
        read_section(file, "", contents);
        return contents;
    }
    if (!looks_like_elf(file)) {
        contents.error = "neither an ELF file nor a fat binary";
        return contents;
    }
    const ElfFile elf = read_elf(file);
    if (!elf.error.empty()) {
        contents.error = elf.error;
        return contents;
    }
    if (elf.machine == kElfMachineCuda) {
        read_cubin(file, elf, contents);
        return contents;
    }
    for (const ElfSection& section : elf.sections) {
        if (section.name != ".nv_fatbin" && section.name != "__nv_relfatbin") continue;
        if (section.bytes.size != section.size) {
            contents.error = "section " + std::string(section.name) + " of " + std::to_string(section.size) +
                             " bytes at " + hex(section.offset) + " lies outside the file";
            return contents;
        }
        read_section(section.bytes, section.name, contents);
        if (!contents.error.empty()) return contents;
    }
    return contents;
}

FileContents read_file(const std::string& path) {
    FileContents result{MappedFile::open(path), {}};
    if (!result.file.error().empty()) {
        result.contents.error = result.file.error();
    } else {
        result.contents = read(result.file.bytes());
    }
    return result;
}

std::vector<std::string_view> functions(const Entry& entry) {
    if (entry.kind != Kind::sass || entry.compressed) return {};
    return defined_functions(read_elf(entry.bytes));
}

std::vector<Entry> entries_with_kernels(const Contents& contents, std::string_view prefix) {
    return entries_of_containers(contents, [&](const Entry* first, const Entry* last) {
        return std::any_of(first, last, [&](const Entry& entry) {
            const auto names = functions(entry);
            return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
                return name.substr(0, prefix.size()) == prefix;
            });
        });
    });
}

std::vector<Entry> entries_with_code(const Contents& contents) {
    return entries_of_containers(contents, [](const Entry* first, const Entry* last) {
        const auto is_sass = [](const Entry& entry) { return entry.kind == Kind::sass; };
        if (std::none_of(first, last, is_sass)) return true;
        return std::any_of(first, last, [&](const Entry& entry) {
            return is_sass(entry) && (entry.compressed || !functions(entry).empty());
        });
    });
}

std::vector<std::string> summary(const std::vector<Entry>& entries) {
    std::set<std::tuple<int, Arch, int, int, std::uint16_t>> keys;
    for (const Entry& e : entries) {
        keys.emplace(static_cast<int>(e.kind), e.arch, e.isa.major, e.isa.minor, e.raw_kind);
    }
    std::vector<std::string> lines;
    for (const auto& [kind, arch, isa_major, isa_minor, raw] : keys) {
        if (kind == static_cast<int>(Kind::sass)) {
            lines.push_back("sass " + to_text(arch));
        } else if (kind == static_cast<int>(Kind::ptx)) {
            lines.push_back("ptx " + to_text(arch) + "@" + to_text(PtxIsa{isa_major, isa_minor}));
        } else {
            lines.push_back("other " + hex(raw) + " " + to_text(arch));
        }
    }
    return lines;
}

}  // namespace cudamatrix::fatbin
