// Edits of what a file expects of itself.
#include "advise/edit/editor.hpp"

#include "base/text.hpp"

namespace cudamatrix {

std::vector<Edit> recounted(const yaml::Node& root, std::uint64_t cells, std::size_t keys) {
    std::vector<Edit> edits;
    const auto write = [&](const yaml::Node* node, std::uint64_t now) {
        if (node == nullptr || node->text == std::to_string(now)) return;
        const auto& [file, line, column, length] = node->where;
        edits.push_back({line, column, line, column + length, std::to_string(now)});
    };
    write(root.find("expect_cells"), cells);
    if (const auto* expect = root.find("expect")) {
        write(expect->find("cells"), cells);
        write(expect->find("keys"), keys);
    }
    return edits;
}

std::vector<std::optional<Edit>> Editor::add_expect(std::string_view text) const {
    const auto& root = places_.root();
    const auto* version = root.member("version");
    // Within braces, or behind a mark of the end, it takes somebody who knows why.
    if (version == nullptr || root.find("expect") != nullptr || version->first.where.column != 1 ||
        yaml::end_mark(source_))
        return {std::nullopt};
    const auto last = add_line(source_.size(), "...");
    if (const auto* old = root.member("expect_cells")) {
        const auto begin = offset_of(old->first.where);
        const auto number = offset_of(old->second.where);
        if (!begin || !number) return {std::nullopt};
        return {between(*begin, *number + old->second.where.length, std::string(text)), last};
    }
    const auto line = version->second.where.line + 1;
    return {Edit{line, 1, line, 1, fmt::format("{}\n", text)}, last};
}

}  // namespace cudamatrix
