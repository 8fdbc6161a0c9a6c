#include "advise/lint/lint.hpp"

#include <algorithm>

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

}  // namespace cudamatrix::lint
