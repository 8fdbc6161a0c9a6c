#include "matrix/entry.hpp"

#include <map>

#include "matrix/member.hpp"
#include "matrix/syntax.hpp"

namespace cudamatrix {
namespace {

using yaml::Node;

bool has_plain_steps(std::string_view path) {
    const auto steps = text::split(path, '/');
    return std::none_of(steps.begin(), steps.end(), [](const std::string& step) {
        return step.empty() || step == "." || step == ".." || step.front() == '-';
    });
}

constexpr std::size_t kLongestPath = 200;

}  // namespace

std::vector<Word> Entry::words(const yaml::Member& member, const ListForm& form) const {
    const auto& [name, node] = member;
    std::vector<Word> out;
    if (!reader_.expect(name, node, Node::Kind::sequence, form.list)) return out;
    if (node.items.empty())
        reader_.error(node.where, fmt::format("{}: found an empty list, expected {}", name.text, form.list),
                      "write an item, or delete the key");
    std::map<std::string, Location> seen;
    for (const auto& item : node.items) {
        if (item.kind != Node::Kind::scalar || !form.accepts(item.text)) {
            const auto found =
                item.kind == Node::Kind::scalar ? in_quotes(item.text) : std::string(kind_name(item.kind));
            reader_.error(item.where, fmt::format("{}: found {}, expected {}", name.text, found, form.item));
            continue;
        }
        const auto [first, fresh] = seen.try_emplace(item.text, item.where);
        if (fresh || form.repeated) {
            out.push_back({item.text, item.where});
        } else {
            reader_.error(item.where,
                          fmt::format("{}: {} appears twice: first at {}", name.text, in_quotes(item.text),
                                      place(first->second)),
                          "delete one of the two");
        }
    }
    return out;
}

std::vector<Variable> Entry::variables(const yaml::Member& member) const {
    const auto& [key, node] = member;
    std::vector<Variable> out;
    if (!reader_.expect(key, node, Node::Kind::map, "a map such as {HF_HOME: /cache}")) return out;
    for (const auto& [name, value] : node.members) {
        if (!reader_.expect(name, value, Node::Kind::scalar, "a single value")) continue;
        if (auto problem = check_member(Field::env, name.text, value.text)) {
            constexpr std::string_view field = "env";  // check_member speaks of the field of a cell
            reader_.error(name.where, key.text + problem->message.substr(field.size()),
                          std::move(problem->fix));
        } else if (!is_rendered_variable(name.text, value.text)) {
            reader_.error(
                name.where,
                fmt::format("{}: {} {}: expected, of NVIDIA's variables, only NVIDIA_VISIBLE_DEVICES (all, "
                            "none or void) or NVIDIA_DRIVER_CAPABILITIES (capabilities such as "
                            "compute,utility)",
                            key.text, name.text, in_quotes(value.text)),
                "delete it: the others control a privileged hook on the host");
        } else {
            out.push_back({name.text, value.text, name.where});
        }
    }
    return out;
}

bool is_entry_name(std::string_view text) {
    const auto legal = [](char c) {
        return syntax::is_lower(c) || syntax::is_digit(c) || c == '_' || c == '-';
    };
    return !text.empty() && text.size() <= 32 && std::all_of(text.begin(), text.end(), legal) &&
           text.front() != '_' && text.front() != '-';
}

bool is_container_path(std::string_view text) {
    return text.size() > 1 && text.size() <= kLongestPath && text.front() == '/' &&
           syntax::only(text, "/_.+-") && has_plain_steps(text.substr(1));
}

bool is_relative_path(std::string_view text) {
    return !text.empty() && text.size() <= kLongestPath && syntax::only(text, "/_.+-") &&
           has_plain_steps(text);
}

}  // namespace cudamatrix
