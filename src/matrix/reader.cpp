#include "matrix/reader.hpp"

#include "base/text.hpp"
#include "matrix/value.hpp"

namespace cudamatrix {
namespace {

constexpr std::size_t kLongestGuess = 40;  // a longer word is no slip of the pen

std::vector<std::string> field_names() {
    std::vector<std::string> names;
    for (const FieldInfo& field : all_fields())
        names.emplace_back(field.name);
    return names;
}

std::string did_you_mean_fix(std::string_view word, const std::vector<std::string>& known) {
    const auto near = word.size() <= kLongestGuess ? text::did_you_mean(word, known) : std::nullopt;
    return near ? fmt::format("did you mean {}?", *near)
                : fmt::format("use one of: {}", text::join(known, ", "));
}

}  // namespace

std::string_view kind_name(yaml::Node::Kind kind) {
    switch (kind) {
        case yaml::Node::Kind::null:
            return "nothing";
        case yaml::Node::Kind::scalar:
            return "a single value";
        case yaml::Node::Kind::sequence:
            return "a list";
        case yaml::Node::Kind::map:
            return "a map";
    }
    return "nothing";
}

std::string place(const Location& where) {
    return fmt::format("{}:{}", where.line, where.column);
}

void Reader::error(const Location& where, std::string message, std::string fix) {
    problems.push_back(Diagnostic::error(std::move(message), where).with_fix(std::move(fix)));
}

void Reader::warning(const Location& where, std::string message, std::string fix) {
    matrix.warnings.push_back(Diagnostic::warning(std::move(message), where).with_fix(std::move(fix)));
}

bool Reader::expect(const yaml::Node& key, const yaml::Node& node, yaml::Node::Kind kind,
                    std::string_view accepts) {
    if (node.kind == kind) return true;
    error(node.kind == yaml::Node::Kind::null ? key.where : node.where,
          fmt::format("{}: found {}, expected {}", key.kind == yaml::Node::Kind::scalar ? key.text : "item",
                      kind_name(node.kind), accepts));
    return false;
}

std::optional<Field> Reader::field(const yaml::Node& key) {
    if (const auto found = field_named(key.text)) return found;
    // A file of nothing but mistakes is cut after a hundred of them: no guesses for the rest.
    constexpr std::size_t most_guesses = 1000;
    error(key.where, fmt::format("unknown field {}", in_quotes(key.text)),
          problems.size() < most_guesses ? did_you_mean_fix(key.text, field_names()) : "");
    return std::nullopt;
}

void Reader::unknown_key(const yaml::Node& key, std::string_view what,
                         const std::vector<std::string>& known) {
    error(key.where, fmt::format("{} has no key {}", what, in_quotes(key.text)),
          did_you_mean_fix(key.text, known));
}

std::optional<Value> Reader::value(Field field, const yaml::Node& key, const yaml::Node& node) {
    const FieldInfo& about = info(field);
    if (about.syntax == Syntax::string_map && node.kind == yaml::Node::Kind::map)
        return map_value(field, node);
    if (about.syntax == Syntax::name_list && node.kind == yaml::Node::Kind::sequence)
        return list_value(field, node);
    if (node.kind != yaml::Node::Kind::scalar || about.syntax == Syntax::string_map) {
        const bool absent = node.kind == yaml::Node::Kind::null;
        error(absent ? key.where : node.where,
              fmt::format("{}: found {}, expected {}", about.name, kind_name(node.kind), about.accepts),
              absent ? "write a value, or delete the key" : "");
        return std::nullopt;
    }
    if (auto problem = check_scalar(field, node.text)) {
        if (node.text.starts_with('<') || node.text.starts_with('>'))
            problem->fix = "ranges are allowed in conditions only (exclude, when, require)";
        error(node.where, std::move(problem->message), std::move(problem->fix));
        return std::nullopt;
    }
    Value value{node.text, node.where, {}};
    if (about.syntax == Syntax::name_list) value.items.emplace_back(node.text, "");
    return value;
}

std::optional<Value> Reader::list_value(Field field, const yaml::Node& node) {
    const auto before = problems.size();
    Value value{{}, node.where, {}};
    for (const auto& item : node.items) {
        if (item.kind != yaml::Node::Kind::scalar) {
            error(item.where,
                  fmt::format("{}: found {}, expected a name", info(field).name, kind_name(item.kind)));
        } else if (auto problem = check_scalar(field, item.text)) {
            error(item.where, std::move(problem->message), std::move(problem->fix));
        } else {
            value.items.emplace_back(item.text, "");
        }
    }
    if (node.items.empty())
        error(node.where,
              fmt::format("{}: found an empty list, expected {}", info(field).name, info(field).accepts));
    if (problems.size() != before) return std::nullopt;
    set_text_from_items(value, Syntax::name_list);
    return value;
}

std::optional<Value> Reader::map_value(Field field, const yaml::Node& node) {
    const auto before = problems.size();
    Value value{{}, node.where, {}};
    for (const auto& [name, member] : node.members) {
        if (member.kind != yaml::Node::Kind::scalar) {
            error(member.kind == yaml::Node::Kind::null ? name.where : member.where,
                  fmt::format("{}: found {} for {}, expected a single value", info(field).name,
                              kind_name(member.kind), in_quotes(name.text)));
        } else if (auto problem = check_member(field, name.text, member.text)) {
            error(name.where, std::move(problem->message), std::move(problem->fix));
        } else {
            value.items.emplace_back(name.text, member.text);
        }
    }
    if (node.members.empty())
        error(node.where,
              fmt::format("{}: found an empty map, expected {}", info(field).name, info(field).accepts));
    if (problems.size() != before) return std::nullopt;
    set_text_from_items(value, Syntax::string_map);
    return value;
}

}  // namespace cudamatrix
