#include "fatbin/archive.hpp"

#include "fatbin/container.hpp"

namespace cudamatrix::fatbin {
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
