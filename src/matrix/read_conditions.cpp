// Conditions on cells, and exclude, which is a list of them.
#include "base/text.hpp"
#include "matrix/condition.hpp"
#include "matrix/reader.hpp"
#include "matrix/value.hpp"

namespace cudamatrix {
namespace {

using yaml::Node;

void read_alternative(Reader& reader, Condition::Clause& clause, const Node& node) {
    if (node.kind != Node::Kind::scalar) {
        reader.error(node.where, fmt::format("{}: found {}, expected a value or a range such as \"<500\"",
                                             info(clause.field).name, kind_name(node.kind)));
        return;
    }
    auto parsed = parse_alternative(clause.field, node.text);
    if (auto* problem = std::get_if<ValueProblem>(&parsed)) {
        reader.error(node.where, std::move(problem->message), std::move(problem->fix));
        return;
    }
    clause.any_of.push_back(std::get<std::vector<Predicate>>(std::move(parsed)));
}

std::optional<Condition::Clause> read_clause(Reader& reader, const Node& key, const Node& node) {
    const auto field = reader.field(key);
    if (!field) return std::nullopt;
    if (info(*field).syntax == Syntax::string_map) {
        reader.error(
            key.where,
            fmt::format("{} cannot be used in a condition: expected a field with a single value", key.text));
        return std::nullopt;
    }
    Condition::Clause clause{*field, {}, node.where};
    if (node.kind == Node::Kind::null || (node.kind == Node::Kind::sequence && node.items.empty())) {
        reader.error(key.where,
                     fmt::format("{}: found nothing, expected a value, a range or a list", key.text),
                     "write a value, or delete the key");
        return std::nullopt;
    }
    if (node.kind == Node::Kind::sequence) {
        for (const auto& item : node.items)
            read_alternative(reader, clause, item);
    } else {
        read_alternative(reader, clause, node);
    }
    return clause;
}

}  // namespace

Condition read_condition(Reader& reader, const Node& key, const Node& node, std::string_view empty_means) {
    Condition condition;
    condition.where = node.kind == Node::Kind::null ? key.where : node.where;
    if (node.kind != Node::Kind::map || node.members.empty()) {
        reader.error(condition.where,
                     fmt::format("{}: found {}, expected a map of fields and values", key.text,
                                 node.kind == Node::Kind::map ? fmt::format("an empty map ({})", empty_means)
                                                              : std::string(kind_name(node.kind))));
        return condition;
    }
    for (const auto& [name, member] : node.members) {
        if (auto clause = read_clause(reader, name, member)) condition.clauses.push_back(std::move(*clause));
    }
    return condition;
}

void read_exclude(Reader& reader, const Node& key, const Node& node) {
    if (node.kind == Node::Kind::null) return;
    if (!reader.expect(key, node, Node::Kind::sequence,
                       "a list of maps such as [{driver: \"<500\", cuda: \">=12\"}]"))
        return;
    for (const auto& item : node.items) {
        auto condition = read_condition(reader, key, item, "it would cover every cell");
        condition.where = item.where;
        if (item.kind == Node::Kind::map && !item.members.empty())
            reader.matrix.exclude.push_back(std::move(condition));
    }
}

}  // namespace cudamatrix
