#include "matrix/yaml.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace cudamatrix::yaml {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_forbidden(std::uint32_t c) {
    if (c < 0x20) return c != '\t' && c != '\n';
    if (c >= 0x7F && c < 0xA0) return true;       // DEL and the C1 controls
    if (c == 0x2028 || c == 0x2029) return true;  // line ends that editors show and parsers do not see
    if (c >= 0x202A && c <= 0x202E) return true;  // direction overrides: text that reads otherwise than it is
    if (c >= 0x2066 && c <= 0x2069) return true;
    return c == 0xFEFF || (c & 0xFFFE) == 0xFFFE;
}

Failure refused(std::string message, Location where, std::string fix) {
    return Failure{ExitCode::bad_input,
                   {Diagnostic::error(std::move(message), std::move(where)).with_fix(std::move(fix))}};
}

std::optional<Failure> check_line(std::string_view line, std::size_t number, std::string_view file) {
    if (line.starts_with('%'))
        return refused("a directive (a line that starts with '%'): this file format has none",
                       {std::string(file), number, 1, 1}, "delete the line, or quote the value");
    const auto content = line.find_first_not_of(" \t");
    if (content == std::string_view::npos || line[content] == '#') return std::nullopt;
    const auto tab = line.substr(0, content).find('\t');
    if (tab == std::string_view::npos) return std::nullopt;
    return refused("a tab in the indentation: YAML indents with spaces",
                   {std::string(file), number, tab + 1, 1}, "replace the tab by spaces");
}

}  // namespace

Location location_at(std::string_view text, std::size_t offset, std::string_view file) {
    const auto before = text.substr(0, offset);
    const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
    const auto start = before.rfind('\n');
    return {std::string(file), line, offset - (start == std::string_view::npos ? 0 : start + 1) + 1, 1};
}

std::string code_point_name(std::string_view text, std::size_t offset) {
    return fmt::format("U+{:04X}",
                       text::code_point(text.substr(offset, text::utf8_length(text.substr(offset)))));
}

std::optional<std::size_t> forbidden_character(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto length = text::utf8_length(text.substr(at));
        if (is_forbidden(text::code_point(text.substr(at, length)))) return at;
        at += length;
    }
    return std::nullopt;
}

std::string normalised(std::string_view text) {
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    std::string out = text::replace_all(text, "\r\n", "\n");
    // A tab that indents nothing or a comment does no harm, but yaml-cpp refuses it.
    for (std::size_t start = 0; start < out.size();) {
        const auto end = std::min(out.find('\n', start), out.size());
        const auto content = std::min(out.find_first_not_of(" \t", start), end);
        if (content == end || out[content] == '#') {
            std::replace(out.begin() + static_cast<std::ptrdiff_t>(start),
                         out.begin() + static_cast<std::ptrdiff_t>(content), '\t', ' ');
        }
        start = end + 1;
    }
    return out;
}

std::string in_the_manner_of(std::string_view raw, std::string_view text) {
    const bool crlf = raw.find("\r\n") != std::string_view::npos;
    const std::string mark(raw.starts_with(kByteOrderMark) ? kByteOrderMark : std::string_view());
    return mark + (crlf ? text::replace_all(text, "\n", "\r\n") : std::string(text));
}

Result<std::string> prepared(std::string_view text, std::string_view file, const Limits& limits) {
    if (text.size() > limits.bytes)
        return refused(fmt::format("the file has {} bytes: at most {} are read", text.size(), limits.bytes),
                       {std::string(file), 0, 0, 1}, "split it into several files");
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
        return refused("the file is UTF-16: UTF-8 is read", location_at(text, 0, file),
                       "save the file as UTF-8");
    if (const auto bad = text::invalid_utf8(text)) {
        const auto byte = static_cast<unsigned>(static_cast<unsigned char>(text[*bad]));
        return refused(fmt::format("byte 0x{:02X} is not valid UTF-8", byte), location_at(text, *bad, file),
                       "save the file as UTF-8");
    }
    std::string plain = normalised(text);
    if (const auto bad = forbidden_character(plain))
        return refused(fmt::format("the character {} (invisible or a control character): text, spaces and "
                                   "line ends are accepted",
                                   code_point_name(plain, *bad)),
                       location_at(plain, *bad, file), "delete it");
    std::size_t number = 0;
    for (std::string_view rest = plain; !rest.empty();) {
        const auto end = rest.find('\n');
        if (auto problem = check_line(rest.substr(0, end), ++number, file)) return std::move(*problem);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    return plain;
}

std::size_t end_of_quoted(std::string_view text, std::size_t start) {
    const char quote = text[start];
    for (std::size_t at = start + 1; at < text.size(); ++at) {
        if (quote == '"' && text[at] == '\\') {
            ++at;
        } else if (text[at] == quote) {
            if (quote == '\'' && at + 1 < text.size() && text[at + 1] == quote) {
                ++at;
            } else {
                return at + 1;
            }
        }
    }
    return std::string_view::npos;
}

bool rest_is_blank(std::string_view text, std::size_t offset) {
    const auto next = text.find_first_not_of(" \t", offset);
    if (next == std::string_view::npos || text[next] == '\n') return true;
    return text[next] == '#' && next > offset;
}

std::optional<std::size_t> end_mark(std::string_view text) {
    for (auto end = text.size(); end > 0;) {
        const auto newline = text.rfind('\n', end - 1);
        const auto start = newline == std::string_view::npos ? 0 : newline + 1;
        if (!rest_is_blank(text, start) && text[start] != '#')
            return text.substr(start).starts_with("...") && rest_is_blank(text, start + 3)
                       ? std::optional(start)
                       : std::nullopt;
        end = start == 0 ? 0 : newline;
    }
    return std::nullopt;
}

std::optional<FlowProblem> check_flow(std::string_view text, std::size_t start) {
    std::size_t depth = 0;
    bool entry_started = false;  // something stands between the last '[', '{' or ',' and here
    bool token_start = true;     // a quote here opens a quoted scalar
    for (std::size_t at = start; at < text.size(); ++at) {
        const char c = text[at];
        if (c == ' ' || c == '\t' || c == '\n') continue;
        if (c == '#' && (at == 0 || text[at - 1] == ' ' || text[at - 1] == '\t' || text[at - 1] == '\n')) {
            at = std::min(text.find('\n', at), text.size());
        } else if (c == '[' || c == '{') {
            ++depth;
            entry_started = false;
            token_start = true;
        } else if (c == ']' || c == '}') {
            if (--depth == 0) {
                const auto behind = text.find_first_not_of(" \t", at + 1);
                if (rest_is_blank(text, at + 1) || text[behind] == ':') return std::nullopt;
                return FlowProblem{behind, fmt::format("unexpected text after the closing '{}'", c),
                                   "delete the text, or quote the whole value"};
            }
            entry_started = true;
            token_start = false;
        } else if (c == ',') {
            if (!entry_started)
                return FlowProblem{at, "an empty entry, expected a value before the ','", "delete the ','"};
            entry_started = false;
            token_start = true;
        } else {
            const bool quoted = token_start && (c == '"' || c == '\'');
            if (quoted) {
                const auto end = end_of_quoted(text, at);
                if (end == std::string_view::npos)
                    return FlowProblem{at, "a quoted value has no closing quote", "close the quote"};
                at = end - 1;
            }
            entry_started = true;
            token_start = c == ':' && !quoted;
        }
    }
    return std::nullopt;
}

Wording in_our_words(std::string_view yaml_cpp_message) {
    struct Row {
        std::string_view theirs;
        std::string_view ours;
        std::string_view fix;
    };
    constexpr std::string_view cut_off = "close the bracket; a file that was cut off ends like this too";
    static constexpr std::array<Row, 10> rows{{
        {"end of sequence flow not found", "a list that starts with '[' has no ']'", cut_off},
        {"end of map flow not found", "a map that starts with '{' has no '}'", cut_off},
        {"end of sequence not found", "this line does not belong to the list above it",
         "check the indentation and the '-'"},
        {"end of map not found", "this line does not belong to the map above it",
         "check the indentation and the ':'"},
        {"illegal map value", "unexpected ':'", "quote the value, or check the indentation"},
        {"illegal block entry", "unexpected '-'", "check the indentation"},
        {"illegal EOF in scalar", "a quoted value has no closing quote", "close the quote"},
        {"illegal flow end", "a ']' or '}' without its '[' or '{'",
         "delete it, or write the opening bracket"},
        {"the referenced anchor is not defined", "an alias ('*'): this file format has none",
         "write the value out"},
        {"unknown token", "a character that cannot start a value", "quote the value"},
    }};
    // Later versions of yaml-cpp add the name to some messages.
    for (const Row& row : rows) {
        if (yaml_cpp_message.starts_with(row.theirs))
            return {std::string(row.ours), std::string(row.fix), row.fix == cut_off};
    }
    return {fmt::format("not valid YAML: {}", yaml_cpp_message), "correct the line, or the one before it"};
}

}  // namespace cudamatrix::yaml
