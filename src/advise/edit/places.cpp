#include <algorithm>
#include <array>

#include "advise/edit/editor.hpp"

namespace cudamatrix {
namespace {

bool is_in(const yaml::Node& node, const Location& where) {
    if (node.where == where) return true;
    return std::ranges::any_of(node.items, [&](const yaml::Node& item) { return is_in(item, where); }) ||
           std::ranges::any_of(node.members, [&](const yaml::Member& member) {
               return member.first.where == where || is_in(member.second, where);
           });
}

// The map that starts there: its first key does, too, where it is written without braces.
const yaml::Node* node_at(const yaml::Node& node, const Location& where) {
    if (node.kind == yaml::Node::Kind::map && node.where == where) return &node;
    for (const auto& item : node.items) {
        if (const auto* found = node_at(item, where)) return found;
    }
    for (const auto& member : node.members) {
        if (const auto* found = node_at(member.second, where)) return found;
    }
    return nullptr;
}

}  // namespace

Places::Places(const Matrix& matrix) {
    if (auto parsed = yaml::parse(matrix.source, matrix.path); parsed.ok()) root_ = std::move(parsed).value();
}

Location Places::value_of(std::string_view key) const {
    const auto* node = root_.find(key);
    return node == nullptr ? Location{} : node->where;
}

Location Places::member_of(const Location& map, std::string_view key) const {
    const auto* node = node_at(root_, map);
    const auto* value = node == nullptr ? nullptr : node->find(key);
    return value == nullptr ? Location{} : value->where;
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

}  // namespace cudamatrix
