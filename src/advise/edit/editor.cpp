#include "advise/edit/editor.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/text.hpp"
#include "matrix/matrix_file.hpp"

namespace cudamatrix {
namespace {

constexpr std::uint64_t kCountingSteps = 1'000'000;
constexpr auto npos = std::string_view::npos;

std::size_t offset_at(std::string_view source, std::size_t line, std::size_t column) {
    std::size_t start = 0;
    for (std::size_t current = 1; current < line; ++current) {
        const auto end = source.find('\n', start);
        if (end == npos) return source.size();
        start = end + 1;
    }
    return std::min(start + column - 1, source.size());
}

// Behind the quoted text that starts at `start`; the end of the source where it has no end.
std::size_t behind_quotes(std::string_view source, std::size_t start) {
    return std::min(yaml::end_of_quoted(source, start), source.size());
}

bool is_quote(char c) {
    return c == '"' || c == '\'';
}
bool opens(char c) {
    return c == '[' || c == '{';
}
bool closes(char c) {
    return c == ']' || c == '}';
}

bool starts_comment(std::string_view source, std::size_t at) {
    return source[at] == '#' &&
           (at == 0 || source[at - 1] == ' ' || source[at - 1] == '\t' || source[at - 1] == '\n');
}

std::size_t end_of_line(std::string_view source, std::size_t at) {
    return std::min(source.find('\n', at), source.size());
}
std::size_t start_of_line(std::string_view source, std::size_t at) {
    const auto before = at == 0 ? npos : source.rfind('\n', at - 1);
    return before == npos ? 0 : before + 1;
}
std::size_t next_line(std::string_view source, std::size_t at) {
    return std::min(end_of_line(source, at) + 1, source.size());
}

// The line at `start` without blanks in front; empty for blank lines and comments.
std::string_view content_of_line(std::string_view source, std::size_t start) {
    auto line = source.substr(start, end_of_line(source, start) - start);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    return line.starts_with('#') ? std::string_view{} : line;
}

}  // namespace

std::string edited(std::string_view source, std::vector<Edit> edits) {
    std::ranges::sort(edits, [](const Edit& a, const Edit& b) {
        return std::tie(a.line, a.column) > std::tie(b.line, b.column);
    });
    std::string out(source);
    for (const auto& edit : edits) {
        const auto begin = offset_at(source, edit.line, edit.column);
        const auto end = offset_at(source, edit.end_line, edit.end_column);
        out.replace(begin, end - begin, edit.text);
    }
    return out;
}

std::optional<std::size_t> Editor::offset_of(const Location& where) const {
    if (where.line == 0 || where.column == 0 || where.file != matrix_.path) return std::nullopt;
    const auto offset = offset_at(source_, where.line, where.column);
    return offset < source_.size() ? std::optional(offset) : std::nullopt;
}

Edit Editor::between(std::size_t begin, std::size_t end, std::string text) const {
    const auto line = [&](std::size_t at) {
        return 1 + static_cast<std::size_t>(
                       std::count(source_.begin(), source_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    };
    const auto column = [&](std::size_t at) { return at - start_of_line(source_, at) + 1; };
    return {line(begin), column(begin), line(end), column(end), std::move(text)};
}

// Whether `offset` lies between brackets. Outside of them a bracket opens only where a value starts.
bool Editor::in_flow(std::size_t offset) const {
    std::size_t depth = 0;
    bool value_starts = true;
    for (std::size_t at = 0; at < offset; ++at) {
        const char c = source_[at];
        if (c == '\n') {
            value_starts = value_starts || depth == 0;
        } else if (starts_comment(source_, at)) {
            at = end_of_line(source_, at) - 1;
        } else if (is_quote(c) && value_starts) {
            at = behind_quotes(source_, at) - 1;
            value_starts = false;
        } else if (opens(c) && (depth > 0 || value_starts)) {
            ++depth;
            value_starts = true;
        } else if (closes(c) && depth > 0) {
            --depth;
            value_starts = false;
        } else if (c == ':' || (c == ',' && depth > 0) || (c == '-' && value_starts)) {
            value_starts = true;
        } else if (c != ' ') {
            value_starts = false;
        }
    }
    return depth > 0;
}

// Behind the value (or "key: value") that starts at `start`, without the blanks behind it.
std::size_t Editor::end_of_item(std::size_t start, bool flow) const {
    std::size_t depth = 0;
    bool value_starts = true;
    std::size_t end = start;
    for (std::size_t at = start; at < source_.size(); ++at) {
        const char c = source_[at];
        if (starts_comment(source_, at) && at > start) {
            if (depth == 0 && !flow) break;
            at = end_of_line(source_, at) - 1;
            continue;
        }
        if (c == '\n' && depth == 0 && !flow) break;
        if (depth == 0 && flow && (c == ',' || closes(c))) break;
        if (c == ' ' || c == '\n') continue;
        if (is_quote(c) && value_starts) {
            at = behind_quotes(source_, at) - 1;
            value_starts = false;
        } else if (opens(c) && (depth > 0 || flow || value_starts)) {
            ++depth;
            value_starts = true;
        } else if (closes(c) && depth > 0) {
            --depth;
            value_starts = false;
        } else {
            value_starts = c == ':' || c == ',';
        }
        end = at + 1;
    }
    return end;
}

std::optional<Edit> Editor::remove_from_flow(std::size_t start) const {
    const auto end = end_of_item(start, true);
    const auto behind = source_.find_first_not_of(" \n", end);
    if (behind == npos) return std::nullopt;
    if (source_[behind] == ',') {
        auto next = source_.find_first_not_of(' ', behind + 1);
        if (next != npos && source_[next] == '\n') next = source_.find_first_not_of(" \n", next);
        return next == npos ? std::nullopt : std::optional(between(start, next));
    }
    if (!closes(source_[behind])) return std::nullopt;  // a comment: it would swallow what follows
    const auto before = start == 0 ? npos : source_.find_last_not_of(" \n", start - 1);
    if (before == npos) return std::nullopt;
    if (source_[before] == ',') return between(before, end);
    return opens(source_[before]) ? std::optional(between(start, end)) : std::nullopt;
}

// Behind the lines of the item, or of the member, that starts at `start` and stands `indent` deep.
std::size_t Editor::end_of_block(std::size_t start, std::size_t indent, bool is_item) const {
    auto end = next_line(source_, start);
    for (auto at = end; at < source_.size(); at = next_line(source_, at)) {
        const auto content = content_of_line(source_, at);
        if (content.empty()) continue;
        const auto column = static_cast<std::size_t>(content.data() - (source_.data() + at));
        const bool own_list = !is_item && column == indent && content.starts_with("- ");
        if (column <= indent && !own_list) break;
        end = next_line(source_, at);
    }
    return end;
}

std::optional<Edit> Editor::remove_from_block(std::size_t start) const {
    const auto line = start_of_line(source_, start);
    const auto lead = source_.substr(line, start - line);
    const auto indent = std::min(lead.find_first_not_of(' '), lead.size());
    const bool is_item = lead.substr(indent).starts_with('-');
    if (is_item && lead.find_first_not_of(' ', indent + 1) != npos)
        return std::nullopt;  // of a list of lists
    return between(line, end_of_block(start, indent, is_item));
}

std::optional<Edit> Editor::remove(const Location& where) const {
    const auto start = offset_of(where);
    if (!start) return std::nullopt;
    return in_flow(*start) ? remove_from_flow(*start) : remove_from_block(*start);
}

// Where `key` stands in front of the value at `value`: on the same line, or on the one before.
std::optional<std::size_t> Editor::key_before(std::size_t value, std::string_view key) const {
    const auto colon = value == 0 ? npos : source_.find_last_not_of(" \n-", value - 1);
    if (colon == npos || source_[colon] != ':' || colon < key.size()) return std::nullopt;
    const auto start = colon - key.size();
    return source_.substr(start, key.size()) == key ? std::optional(start) : std::nullopt;
}

std::optional<Edit> Editor::remove_member(const Location& value, std::string_view key) const {
    const auto at = offset_of(value);
    const auto start = at ? key_before(*at, key) : std::nullopt;
    if (!start) return std::nullopt;
    return in_flow(*start) ? remove_from_flow(*start) : remove_from_block(*start);
}

std::string_view Editor::text_at(const Location& where) const {
    const auto text = source_at(where);
    return text.size() > 1 && is_quote(text.front()) ? text.substr(1, text.size() - 2) : text;
}

std::optional<Edit> Editor::replace(const Location& where, std::string_view text) const {
    const auto start = offset_of(where);
    if (!start || opens(source_[*start])) return std::nullopt;
    return between(*start, end_of_item(*start, in_flow(*start)), fmt::format("\"{}\"", text));
}

Edit Editor::add_line(std::size_t at, std::string_view text) const {
    const bool begun = at > 0 && source_[at - 1] != '\n';
    return between(at, at, fmt::format("{}{}\n", begun ? "\n" : "", text));
}

std::optional<Edit> Editor::add_to_set(std::string_view key, const Location& value) const {
    const auto from = offset_of(value);
    if (!from) return std::nullopt;
    const auto member =
        fmt::format("{}: {}", key, source_.substr(*from, end_of_item(*from, in_flow(*from)) - *from));
    if (matrix_.set.empty()) {
        return add_line(yaml::end_mark(source_).value_or(source_.size()), fmt::format("set: {{{}}}", member));
    }
    const auto& [field, first] = matrix_.set.front();
    const auto at = offset_of(first.where);
    const auto start = at ? key_before(*at, info(field).name) : std::nullopt;
    if (!start) return std::nullopt;
    if (in_flow(*start)) return between(*start, *start, member + ", ");
    const auto indent = *start - start_of_line(source_, *start);
    return between(*start, *start, member + "\n" + std::string(indent, ' '));
}

std::optional<Edit> Editor::add_to_list(const Location& where, const std::vector<std::string>& texts) const {
    const auto start = offset_of(where);
    if (!start) return std::nullopt;
    if (source_[*start] == '[') return between(*start + 1, *start + 1, text::join(texts, ", ") + ", ");
    if (source_[*start] != '-') return std::nullopt;
    const std::string indent(*start - start_of_line(source_, *start), ' ');
    std::string lines;
    for (const auto& text : texts)
        lines += fmt::format("- {}\n{}", text, indent);
    return between(*start, *start, std::move(lines));
}

std::optional<Edit> Editor::add_behind(const Location& item, std::string_view text) const {
    const auto start = offset_of(item);
    if (!start) return std::nullopt;
    const auto line = start_of_line(source_, *start);
    if (in_flow(*start)) {
        const auto end = end_of_item(*start, true);
        // One item on each line stays so.
        const auto before = source_.substr(line, *start - line);
        const bool own_line = before.find_first_not_of(' ') == npos;
        return between(end, end, fmt::format(",{}{}", own_line ? fmt::format("\n{}", before) : " ", text));
    }
    const auto lead = source_.substr(line, *start - line);
    if (text::trim(lead) != "-") return std::nullopt;
    // What goes on below belongs to the item: a map without braces.
    if (end_of_block(*start, lead.find('-'), true) != next_line(source_, *start)) return std::nullopt;
    const auto end = end_of_line(source_, *start);
    return between(end, end, fmt::format("\n{}{}", lead, text));
}

std::string_view Editor::source_at(const Location& where) const {
    const auto start = offset_of(where);
    if (!start) return {};
    return source_.substr(*start, end_of_item(*start, in_flow(*start)) - *start);
}

std::vector<Edit> Editor::checked(std::vector<Edit> edits, std::uint64_t cells) const {
    if (edits.empty()) return {};
    std::size_t keys = 0;
    if (matrix_.expect.keys) {
        const auto changed = yaml::parse(edited(source_, edits), matrix_.path);
        if (!changed.ok()) return {};
        keys = changed->members.size();
    }
    std::ranges::move(recounted(places_.root(), cells, keys), std::back_inserter(edits));
    const auto fixed = read_matrix_text(edited(source_, edits), matrix_.path, {}, names_);
    if (!fixed.ok()) return {};
    const auto counted = count_cells(fixed.value(), kCountingSteps);
    return counted == cells ? edits : std::vector<Edit>{};
}

}  // namespace cudamatrix
