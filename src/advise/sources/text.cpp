#include "advise/sources/text.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cudamatrix::sources {

FileText::FileText(std::string_view text, std::string_view path) : text_(text), path_(path), starts_{0} {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\n') starts_.push_back(i + 1);
    }
}

Location FileText::at(std::size_t offset, std::size_t length) const {
    offset = std::min(offset, text_.size());
    const auto next = std::ranges::upper_bound(starts_, offset);
    const auto line = static_cast<std::size_t>(next - starts_.begin());
    const auto end = std::min(text_.find('\n', offset), text_.size());
    return {path_, line, offset - starts_[line - 1] + 1,
            std::clamp<std::size_t>(length, 1, std::max<std::size_t>(end - offset, 1))};
}

std::size_t FileText::offset(const Location& where) const {
    if (where.line == 0 || where.line > starts_.size()) return 0;
    return starts_[where.line - 1] + where.column - 1;
}

std::size_t Script::offset(std::size_t index) const {
    if (at.empty()) return 0;
    return index < at.size() ? at[index] : std::size_t{at.back()} + 1;
}

Script Script::from(std::size_t index) const {
    index = std::min(index, text.size());
    return {text.substr(index), {at.begin() + static_cast<std::ptrdiff_t>(index), at.end()}};
}

std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

namespace {

constexpr std::size_t kMostDepth =
    16;  // of values in values: closing() refuses more, so nothing recurses deeper

bool is_name(char c) {
    return text::is_word(c) || c == '_';
}

std::string open_text() {
    return std::string(1, kOpen);
}

// Index behind the bracket that closes the one before `index`; npos: none does.
std::size_t closing(std::string_view text, std::size_t index, char opens, char closes) {
    for (std::size_t depth = 1; index < text.size(); ++index) {
        const char c = text[index];
        if (c == '\\') {
            ++index;
        } else if (c == '\'' && opens == '(') {
            index = std::min(text.find('\'', index + 1), text.size());
        } else if (c == opens) {
            if (++depth > kMostDepth) return std::string_view::npos;
        } else if (c == closes && --depth == 0) {
            return index + 1;
        }
    }
    return std::string_view::npos;
}

std::string without_suffix(const std::string& value, std::string_view pattern, bool longest) {
    for (std::size_t i = 0; i <= value.size(); ++i) {
        const auto cut = longest ? i : value.size() - i;
        if (text::glob_match(pattern, std::string_view(value).substr(cut))) return value.substr(0, cut);
    }
    return value;
}

std::string without_prefix(const std::string& value, std::string_view pattern, bool longest) {
    for (std::size_t i = 0; i <= value.size(); ++i) {
        const auto cut = longest ? value.size() - i : i;
        if (text::glob_match(pattern, std::string_view(value).substr(0, cut))) return value.substr(cut);
    }
    return value;
}

// The length of the longest match at `begin`; none: nothing of it matches, or only nothing.
std::size_t match_length(std::string_view value, std::size_t begin, std::string_view pattern) {
    for (auto length = value.size() - begin; length > 0; --length) {
        if (text::glob_match(pattern, value.substr(begin, length))) return length;
    }
    return 0;
}

constexpr std::size_t kLongestGlobbed = 128;  // each place is tried with each length

// As bash: the longest match from the left; a pattern that begins with # or % (not of //) has to match at
// that end.
std::string substituted(const std::string& value, std::string_view rest, bool all) {
    const auto slash = rest.find('/');
    auto from = rest.substr(0, slash);
    const auto to = slash == std::string_view::npos ? std::string() : std::string(rest.substr(slash + 1));
    const char anchor = !all && (from.starts_with('#') || from.starts_with('%')) ? from.front() : '\0';
    if (anchor != '\0') from.remove_prefix(1);
    const auto plain = text::replace_all(from, "\\", "");
    if (from.empty()) return anchor == '#' ? to + value : anchor == '%' ? value + to : value;
    const bool glob = plain.find_first_of("*?") != std::string::npos;
    if (plain.find('[') != std::string::npos || (glob && (plain != from || value.size() > kLongestGlobbed)))
        return open_text();
    if (anchor == '%') {
        const auto kept = without_suffix(value, plain, true);
        return kept == value ? value : kept + to;
    }
    std::string out;
    for (std::size_t i = 0; i < value.size();) {
        const auto length = match_length(value, i, plain);
        if (length == 0) {
            if (anchor == '#') return value;
            out += value[i++];
            continue;
        }
        out += to;
        i += length;
        if (!all) return out + value.substr(i);
    }
    return out;
}

std::optional<std::size_t> small_number(std::string_view text) {
    if (text.empty() || text.size() > 4 || !std::ranges::all_of(text, text::is_digit)) return {};
    return std::stoul(std::string(text));
}

std::string part_of(const std::string& value, std::string_view range) {
    const auto colon = range.find(':');
    const auto begin = small_number(text::trim(range.substr(0, colon)));
    if (!begin) return open_text();
    if (*begin >= value.size()) return {};
    if (colon == std::string_view::npos) return value.substr(*begin);
    const auto length = small_number(text::trim(range.substr(colon + 1)));
    return length ? value.substr(*begin, *length) : open_text();
}

std::string changed_by(const std::string& value, std::string_view rule, const Lookup& lookup) {
    const auto pattern = [&](std::size_t skip) { return expanded(rule.substr(skip), lookup); };
    if (rule.starts_with("%%")) return without_suffix(value, pattern(2), true);
    if (rule.starts_with("%")) return without_suffix(value, pattern(1), false);
    if (rule.starts_with("##")) return without_prefix(value, pattern(2), true);
    if (rule.starts_with("#")) return without_prefix(value, pattern(1), false);
    if (rule.starts_with("//")) return substituted(value, rule.substr(2), true);
    if (rule.starts_with("/")) return substituted(value, rule.substr(1), false);
    if (rule.starts_with(":")) return part_of(value, rule.substr(1));
    if (rule == ",,") return text::lower(value);
    return open_text();
}

// What stands between ${ and }.
std::string braced(std::string_view inner, const Lookup& lookup) {
    std::size_t end = 0;
    while (end < inner.size() && is_name(inner[end]))
        ++end;
    if (end == 0) return open_text();
    const auto value = lookup(inner.substr(0, end));
    const auto rule = inner.substr(end);
    if (rule.empty()) return value ? *value : open_text();
    const bool colon = rule.starts_with(":") && rule.size() > 1;
    const char act = colon ? rule[1] : rule[0];
    const auto word = [&] { return expanded(rule.substr(colon ? 2 : 1), lookup); };
    const bool is_set = value && !(colon && value->empty());
    if (act == '-' || act == '=') return is_set ? *value : word();
    if (act == '+') return is_set ? word() : value ? std::string() : open_text();
    if (act == '?') return value ? *value : open_text();
    if (!value || is_open(*value) || value->size() > kLongestValue) return open_text();
    return changed_by(*value, rule, lookup);
}

// "-d. -f1,2", "-f 1-2 -d '.'".
std::string cut(const std::string& input, const std::vector<std::string>& words) {
    std::string delimiter, fields;
    for (std::size_t i = 1; i < words.size(); ++i) {
        auto& into = words[i].starts_with("-d") ? delimiter : fields;
        if (!words[i].starts_with("-d") && !words[i].starts_with("-f")) return open_text();
        into = words[i].size() > 2 ? words[i].substr(2) : ++i < words.size() ? words[i] : std::string();
    }
    if (delimiter.size() != 1) return open_text();
    const auto parts = text::split(input, delimiter[0]);
    std::vector<std::string> out;
    for (const auto& field : text::split(fields, ',')) {
        const auto dash = field.find('-');
        const auto first = small_number(field.substr(0, dash));
        const auto last = dash == std::string::npos ? first : small_number(field.substr(dash + 1));
        if (!first || !last || *first == 0) return open_text();
        for (auto i = *first; i <= *last && i <= parts.size(); ++i)
            out.push_back(parts[i - 1]);
    }
    return text::join(out, delimiter);
}

std::vector<std::string> plain_words(std::string_view command, const Lookup& lookup) {
    std::vector<std::string> out;
    std::string word;
    char quote = 0;
    bool begun = false;
    for (const char c : command) {
        if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
            if (begun) out.push_back(expanded(word, lookup));
            word.clear();
            begun = false;
            continue;
        }
        if (c == '\'' || c == '"') quote = quote == 0 ? c : quote == c ? 0 : quote;
        word.push_back(c);
        begun = true;
    }
    if (begun) out.push_back(expanded(word, lookup));
    return out;
}

// What stands between $( and ): the programs that people take versions apart with.
std::string output_of(std::string_view command, const Lookup& lookup) {
    if (command.size() > kLongestValue) return open_text();
    std::optional<std::string> value;
    for (const auto& part : text::split(command, '|')) {
        const auto words = plain_words(part, lookup);
        if (words.empty()) return open_text();
        const auto& program = words[0];
        if (!value && words == std::vector<std::string>{"uname", "-m"}) {
            value = lookup("CUDAMATRIX_UNAME_M");
        } else if (!value && words == std::vector<std::string>{"dpkg", "--print-architecture"}) {
            value = lookup("TARGETARCH");
        } else if (!value && (program == "echo" || program == "printf") && words.size() == 2) {
            value = words[1];
        } else if (value && is_open(*value)) {
            return open_text();
        } else if (value && program == "cut") {
            value = cut(*value, words);
        } else if (value && program == "tr" && words.size() == 3 && words[1] == "-d" &&
                   words[2].size() == 1) {
            value = text::replace_all(*value, words[2], "");
        } else if (value && program == "sed" && words.size() == 2 &&
                   (words[1] == "s/\\.//g" || words[1] == "s/[.]//g")) {
            value = text::replace_all(*value, ".", "");
        } else {
            return open_text();
        }
        if (!value) return open_text();
    }
    return *value;
}

}  // namespace

std::string expanded_at(std::string_view text, std::size_t& index, const Lookup& lookup) {
    const auto begin = index + 1;
    if (begin < text.size() && text[begin] == '{') {
        const auto end = closing(text, begin + 1, '{', '}');
        index = end == std::string_view::npos ? text.size() : end;
        return end == std::string_view::npos ? open_text()
                                             : braced(text.substr(begin + 1, end - begin - 2), lookup);
    }
    if (begin < text.size() && text[begin] == '(') {
        const auto end = closing(text, begin + 1, '(', ')');
        index = end == std::string_view::npos ? text.size() : end;
        return end == std::string_view::npos ? open_text()
                                             : output_of(text.substr(begin + 1, end - begin - 2), lookup);
    }
    auto end = begin;
    while (end < text.size() && is_name(text[end]))
        ++end;
    if (end == begin) {  // $?, $@, a lone $
        const bool special =
            begin < text.size() && std::string_view("?@*#$!-").find(text[begin]) != std::string_view::npos;
        index = special ? begin + 1 : begin;
        return special ? open_text() : "$";
    }
    index = end;
    const auto value = lookup(text.substr(begin, end - begin));
    return value ? *value : open_text();
}

std::string expanded(std::string_view text, const Lookup& lookup, char escape) {
    std::string out;
    char quote = 0;
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        if (quote != '\'' && c == escape && i + 1 < text.size()) {
            out.push_back(text[i + 1]);
            i += 2;
        } else if ((c == '\'' || c == '"') && (quote == 0 || quote == c)) {
            quote = quote == 0 ? c : 0;
            ++i;
        } else if (quote != '\'' && c == '$') {
            out += expanded_at(text, i, lookup);
        } else {
            out.push_back(c);
            ++i;
        }
        if (out.size() > 64 * kLongestValue) break;
    }
    return out;
}

}  // namespace cudamatrix::sources
