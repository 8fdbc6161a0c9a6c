// Conditions on cells, and what holds them: exclude, rules and waive.
#include <algorithm>

#include "base/date.hpp"
#include "base/text.hpp"
#include "matrix/condition.hpp"
#include "matrix/entry.hpp"
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

namespace {

bool is_rule_id(std::string_view text) {
    return !text.empty() && text.size() <= 64 && text.front() != '-' && text.back() != '-' &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

constexpr std::string_view kIdForm = "a word of lower-case letters, digits and '-', such as gcp-driver";

void read_rule(Reader& reader, const Node& key, const Node& node) {
    const Entry entry(reader, key, node);
    if (!entry.is_map(
            "{id: gcp-driver, when: {platform: gcp}, require: {driver: \"470.*\"}, because: \"...\"}"))
        return;
    entry.refuse_keys_beside({"id", "when", "require", "because", "source", "stage", "severity"});
    OwnRule rule;
    rule.where = node.where;
    if (const auto* id = entry.required("id", "findings are named by it")) {
        rule.id = entry.scalar(*id, kIdForm, is_rule_id);
        rule.where = id->second.where;
    }
    rule.when = entry.condition("when", kEveryCell);
    if (entry.required("require", "what the cells have to meet") != nullptr)
        rule.require = entry.condition("require", "it would require nothing");
    if (const auto* because = entry.required("because", "the reason is what the finding says"))
        rule.because = entry.sentence(*because);
    if (const auto* source = entry.find("source")) rule.source = entry.sentence(*source);
    if (const auto* stage = entry.find("stage")) {
        const auto& names = stage_names();
        rule.stage = entry.scalar(*stage, text::join(names, ", "), [&](const std::string& text) {
            return std::find(names.begin(), names.end(), text) != names.end();
        });
    }
    if (const auto* severity = entry.find("severity")) {
        const auto text = entry.scalar(*severity, "error or warning", [](std::string_view word) {
            return word == "error" || word == "warning";
        });
        if (text == "warning") rule.severity = Severity::warning;
    }
    const auto& rules = reader.matrix.rules;
    const auto first =
        std::find_if(rules.begin(), rules.end(), [&](const OwnRule& other) { return other.id == rule.id; });
    if (!rule.id.empty() && first != rules.end()) {
        reader.error(
            rule.where,
            fmt::format("id {}: an earlier rule has it, at {}", in_quotes(rule.id), place(first->where)),
            "give each rule an id of its own");
    }
    reader.matrix.rules.push_back(std::move(rule));
}

void read_waiver(Reader& reader, const Node& key, const Node& node) {
    const Entry entry(reader, key, node);
    if (!entry.is_map(
            "{rule: end-of-life, when: {cuda: \"11.3.1\"}, because: \"mirrored\", until: 2027-03-31}"))
        return;
    entry.refuse_keys_beside({"rule", "when", "because", "until"});
    Waiver waiver;
    waiver.where = node.where;
    if (const auto* rule = entry.required("rule", "whose findings are accepted")) {
        waiver.rule = entry.scalar(*rule, "the id of a rule such as end-of-life", is_rule_id);
        waiver.where = rule->second.where;
    }
    waiver.when = entry.condition("when", kEveryCell);
    if (const auto* because = entry.required("because", "a finding is not accepted without a reason"))
        waiver.because = entry.sentence(*because);
    if (const auto* until = entry.required("until", "a finding is not accepted for ever"))
        waiver.until = entry.scalar(*until, "a day such as 2027-03-31", is_date);
    reader.matrix.waivers.push_back(std::move(waiver));
}

}  // namespace

void read_rules(Reader& reader, const Node& key, const Node& node) {
    if (node.kind == Node::Kind::null) return;
    if (!reader.expect(key, node, Node::Kind::sequence, "a list of rules")) return;
    for (const auto& item : node.items)
        read_rule(reader, key, item);
}

void read_waive(Reader& reader, const Node& key, const Node& node) {
    if (node.kind == Node::Kind::null) return;
    if (!reader.expect(key, node, Node::Kind::sequence, "a list of waivers")) return;
    for (const auto& item : node.items)
        read_waiver(reader, key, item);
}

}  // namespace cudamatrix
