#include "advise/lint/lint.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace cudamatrix::lint {
namespace {

constexpr std::string_view kMark = "# lint: allow ";

// Where the comment starts that allows something; npos: the line has none.
std::size_t mark_in(std::string_view line) {
    const auto at = line.rfind(kMark);
    if (at == std::string_view::npos || at == 0) return at;
    return line[at - 1] == ' ' ? at : std::string_view::npos;
}

}  // namespace

Suppressions::Suppressions(std::string_view source, std::string_view file) {
    bool at_top = true;  // nothing but comments so far
    std::vector<std::string> for_next;
    const auto lines = text::split(source, '\n');
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string_view line = lines[i];
        const auto content = text::trim(line);
        const bool is_comment = content.starts_with('#');
        std::vector<std::string> ids;
        if (const auto at = mark_in(line); at != std::string_view::npos) {
            const auto list = line.substr(at + kMark.size());
            auto column = at + kMark.size() + 1;
            for (const auto& part : text::split(list.substr(0, list.find(':')), ',')) {
                const std::string id(text::trim(part));
                const auto blanks = part.find_first_not_of(' ');
                const auto start = column + (blanks == std::string::npos ? 0 : blanks);
                words_.push_back(
                    {id, {std::string(file), i + 1, start, std::max<std::size_t>(1, id.size())}});
                ids.push_back(id);
                column += part.size() + 1;
            }
        }
        if (is_comment) {
            auto& target = at_top ? everywhere_ : for_next;
            target.insert(target.end(), ids.begin(), ids.end());
        } else if (!content.empty()) {
            at_top = false;
            ids.insert(ids.end(), for_next.begin(), for_next.end());
            for_next.clear();
            if (!ids.empty()) by_line_[i + 1] = std::move(ids);
        }
    }
}

bool Suppressions::covers(std::string_view id, const Location& where) const {
    const auto has = [&](const std::vector<std::string>& ids) {
        return std::ranges::find(ids, id) != ids.end();
    };
    if (has(everywhere_)) return true;
    const auto line = by_line_.find(where.line);
    return line != by_line_.end() && has(line->second);
}

namespace {

bool is_in(const yaml::Node& node, const Location& where) {
    if (node.where == where) return true;
    return std::ranges::any_of(node.items, [&](const yaml::Node& item) { return is_in(item, where); }) ||
           std::ranges::any_of(node.members, [&](const yaml::Member& member) {
               return member.first.where == where || is_in(member.second, where);
           });
}

}  // namespace

Places::Places(const Matrix& matrix) {
    if (auto parsed = yaml::parse(matrix.source, matrix.path); parsed.ok()) root_ = std::move(parsed).value();
}

Location Places::value_of(std::string_view key) const {
    const auto* node = root_.find(key);
    return node == nullptr ? Location{} : node->where;
}

Location Places::mirror(std::string_view from) const {
    const auto* mirrors = root_.find("mirrors");
    if (mirrors == nullptr) return {};
    for (const auto& [key, value] : mirrors->members) {
        auto name = std::string_view(key.text);
        while (name.ends_with('/'))
            name.remove_suffix(1);
        if (name == from) return key.where;
    }
    return {};
}

std::optional<Places::Entry> Places::entry_at(const Location& where) const {
    static constexpr std::array<std::string_view, 5> sections{"exclude", "include", "rules", "waive",
                                                              "images"};
    for (const auto section : sections) {
        const auto* list = root_.find(section);
        if (list == nullptr) continue;
        for (const auto& item : list->items) {
            if (is_in(item, where)) return Entry{section, item.where};
        }
    }
    return std::nullopt;
}

}  // namespace cudamatrix::lint
