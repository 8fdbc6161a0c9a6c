#include "fatbin/elf.hpp"

#include <cstring>
#include <utility>

namespace cudamatrix::fatbin {
namespace {

constexpr std::uint64_t kHeaderSize = 64;
constexpr std::uint64_t kSectionHeaderSize = 64;
constexpr std::uint64_t kSymbolSize = 24;
constexpr std::uint32_t kTypeProgbits = 1;
constexpr std::uint32_t kTypeSymtab = 2;
constexpr std::uint32_t kTypeNobits = 8;
constexpr std::uint32_t kIndexExtended = 0xffff;
constexpr std::uint64_t kFlagInstructions = 4;
constexpr std::uint8_t kSymbolFunction = 2;

/// A string of a string table, cut at the table's end when no NUL follows.
std::string_view string_at(Bytes table, std::uint64_t offset) {
    if (offset >= table.size) return {};
    const auto* begin = reinterpret_cast<const char*>(table.data) + offset;
    return {begin, ::strnlen(begin, table.size - static_cast<std::size_t>(offset))};
}

struct TableInfo {
    std::uint64_t offset = 0;
    std::uint64_t count = 0;
    std::uint64_t names_index = 0;
};

/// Where the section table lies; counts beyond 0xff00 are kept in section 0 by the format.
TableInfo table_info(Bytes file, std::string& error) {
    TableInfo info;
    info.offset = file.number<std::uint64_t>(40);
    const auto entry_size = file.number<std::uint16_t>(58);
    info.count = file.number<std::uint16_t>(60);
    info.names_index = file.number<std::uint16_t>(62);
    const auto fault = [&](std::string what) {
        error = std::move(what);
        return TableInfo{};
    };
    if (info.offset == 0) return fault("ELF file without a section table (stripped of it)");
    if (entry_size != kSectionHeaderSize)
        return fault("ELF section headers of " + std::to_string(entry_size) + " bytes, expected 64");
    const char* const outside = "ELF section table lies outside the file";
    if (info.count == 0 || info.names_index == kIndexExtended) {
        if (!file.contains(info.offset, kSectionHeaderSize)) return fault(outside);
        if (info.count == 0) info.count = file.number<std::uint64_t>(info.offset + 32);
        if (info.names_index == kIndexExtended)
            info.names_index = file.number<std::uint32_t>(info.offset + 40);
    }
    // Division keeps count * 64 from overflowing.
    if (info.count > file.size / kSectionHeaderSize ||
        !file.contains(info.offset, info.count * kSectionHeaderSize))
        return fault(outside);
    return info;
}

}  // namespace

bool looks_like_elf(Bytes file) {
    return file.size >= 4 && file.number<std::uint32_t>(0) == 0x464c457f;  // "\x7f" and "ELF"
}

ElfFile read_elf(Bytes file) {
    ElfFile elf;
    if (!looks_like_elf(file)) {
        elf.error = "not an ELF file";
    } else if (file.size < kHeaderSize) {
        elf.error = "ELF header cut off after " + std::to_string(file.size) + " of 64 bytes";
    } else if (file.data[4] != 2 || file.data[5] != 1) {
        elf.error = "not a 64-bit little-endian ELF file";
    }
    if (!elf.error.empty()) return elf;
    elf.os_abi = file.data[7];
    elf.machine = file.number<std::uint16_t>(18);
    elf.flags = file.number<std::uint32_t>(48);
    const TableInfo table = table_info(file, elf.error);
    if (!elf.error.empty()) return elf;

    elf.sections.reserve(static_cast<std::size_t>(table.count));
    std::vector<std::uint32_t> name_offsets;
    for (std::uint64_t i = 0; i < table.count; ++i) {
        const std::uint64_t at = table.offset + i * kSectionHeaderSize;
        ElfSection section;
        name_offsets.push_back(file.number<std::uint32_t>(at));
        section.type = file.number<std::uint32_t>(at + 4);
        section.flags = file.number<std::uint64_t>(at + 8);
        section.offset = file.number<std::uint64_t>(at + 24);
        section.size = file.number<std::uint64_t>(at + 32);
        section.link = file.number<std::uint32_t>(at + 40);
        if (section.type != kTypeNobits) section.bytes = file.sub(section.offset, section.size);
        elf.sections.push_back(section);
    }
    if (table.names_index >= elf.sections.size()) {
        elf.error = "ELF section names lie in section " + std::to_string(table.names_index) + " of " +
                    std::to_string(elf.sections.size());
        return elf;
    }
    const Bytes names = elf.sections[static_cast<std::size_t>(table.names_index)].bytes;
    for (std::size_t i = 0; i < elf.sections.size(); ++i)
        elf.sections[i].name = string_at(names, name_offsets[i]);
    return elf;
}

bool has_instructions(Bytes file) {
    if (!looks_like_elf(file) || file.size < kHeaderSize || file.data[4] != 2 || file.data[5] != 1)
        return false;
    std::string error;
    const TableInfo table = table_info(file, error);
    for (std::uint64_t i = 0; i < table.count; ++i) {
        const std::uint64_t at = table.offset + i * kSectionHeaderSize;
        if (file.number<std::uint32_t>(at + 4) == kTypeProgbits &&
            (file.number<std::uint64_t>(at + 8) & kFlagInstructions) != 0 &&
            file.number<std::uint64_t>(at + 32) != 0) {
            return true;
        }
    }
    return false;
}

std::vector<std::string_view> defined_functions(const ElfFile& file) {
    std::vector<std::string_view> names;
    for (const ElfSection& section : file.sections) {
        if (section.type != kTypeSymtab || section.link >= file.sections.size()) continue;
        const Bytes strings = file.sections[section.link].bytes;
        for (std::uint64_t at = 0; section.bytes.contains(at, kSymbolSize); at += kSymbolSize) {
            const bool is_function = (section.bytes.data[at + 4] & 0xf) == kSymbolFunction;
            const bool is_defined = section.bytes.number<std::uint16_t>(at + 6) != 0;
            if (is_function && is_defined)
                names.push_back(string_at(strings, section.bytes.number<std::uint32_t>(at)));
        }
    }
    return names;
}

}  // namespace cudamatrix::fatbin
