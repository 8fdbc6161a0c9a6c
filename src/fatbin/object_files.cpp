#include "fatbin/object_files.hpp"

#include <cstring>
#include <utility>

#include "fatbin/container.hpp"

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

namespace {

constexpr std::string_view kMagic = "!<arch>\n";
constexpr std::string_view kThinMagic = "!<thin>\n";

std::string_view text_of(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data), bytes.size};
}

std::string_view without_blanks(std::string_view text) {
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

/// Decimal digits and nothing else, at most twelve.
std::optional<std::uint64_t> decimal(std::string_view text) {
    if (text.empty() || text.size() > 12) return std::nullopt;
    std::uint64_t value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return value;
}

/// "/12": the name that starts at byte 12 of the table of long names and ends in "/\n".
std::optional<std::string_view> long_name(std::string_view reference, std::string_view table) {
    const auto at = decimal(reference.substr(1));
    if (!at || *at >= table.size()) return std::nullopt;
    const std::string_view rest = table.substr(static_cast<std::size_t>(*at));
    return rest.substr(0, rest.find_first_of("/\n"));
}

}  // namespace

bool looks_like_archive(Bytes file) {
    const std::string_view start = text_of(file.sub(0, kArMagicSize));
    return start == kMagic || start == kThinMagic;
}

bool is_thin_archive(Bytes file) {
    return text_of(file.sub(0, kArMagicSize)) == kThinMagic;
}

std::optional<ArHeader> read_ar_header(Bytes header) {
    const std::string_view text = text_of(header);
    if (text.size() < kArHeaderSize || text[58] != '`' || text[59] != '\n') return std::nullopt;
    const auto size = decimal(without_blanks(text.substr(48, 10)));
    if (!size) return std::nullopt;
    return ArHeader{without_blanks(text.substr(0, 16)), *size};
}

bool is_ar_table(std::string_view name) {
    return name == "/" || name == "//" || name == "/SYM64/" || name.substr(0, 9) == "__.SYMDEF";
}

std::string for_each_member(Bytes file, const std::function<bool(std::string_view, Bytes)>& visit) {
    std::string_view names;
    for (std::uint64_t at = kArMagicSize; at < file.size;) {
        const std::string where = "archive, member at " + hex(at);
        const auto header = read_ar_header(file.sub(at, kArHeaderSize));
        if (!header) return where + ": no member header";
        const std::uint64_t begin = at + kArHeaderSize;
        if (!file.contains(begin, header->size))
            return where + ": " + std::to_string(header->size) + " bytes, " +
                   std::to_string(file.size - begin) + " left";
        Bytes bytes = file.sub(begin, header->size);
        std::string_view name = header->name;
        at = begin + header->size + header->size % 2;
        if (name == "//") names = text_of(bytes);
        if (is_ar_table(name)) continue;
        if (name.substr(0, 3) == "#1/") {  // BSD: the name stands before the bytes
            const auto length = decimal(name.substr(3));
            if (!length || *length > bytes.size) return where + ": no name";
            name = text_of(bytes.sub(0, *length));
            name = name.substr(0, name.find('\0'));
            bytes = bytes.sub(*length, bytes.size - *length);
            if (is_ar_table(name)) continue;
        } else if (name.size() > 1 && name.front() == '/') {
            const auto found = long_name(name, names);
            if (!found) return where + ": name " + std::string(name) + " is not in the table";
            name = *found;
        } else if (!name.empty() && name.back() == '/') {
            name.remove_suffix(1);
        }
        if (!visit(name, bytes)) return {};
    }
    return {};
}

}  // namespace cudamatrix::fatbin
