// Conditions on cells, and what holds them: exclude, rules and waive.
#include <algorithm>

#include "base/text.hpp"
#include "matrix/condition.hpp"
#include "matrix/reader.hpp"

namespace cudamatrix {
namespace {

using yaml::Node;

void read_alternative(Reader& reader, Condition::Clause& clause, const Node& node) {
    if (node.kind != Node::Kind::scalar) {
        reader.error(node.where, fmt::format("{}: found {}, expected a value or a range such as \"<500\"",
                                             info(clause.field).name, kind_name(node.kind)));
        return;
    }
    const auto text = respelled_alternative(
        clause.field, node.text,
        [&](Field field, std::string_view value) { return reader.meant(field, value, node.where); });
    auto parsed = parse_alternative(clause.field, text);
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
    for (const auto& item : node.kind == Node::Kind::sequence ? node.items : std::vector{node})
        read_alternative(reader, clause, item);
    return clause;
}

bool is_rule_id(std::string_view text) {
    return !text.empty() && text.size() <= 64 && text.front() != '-' && text.back() != '-' &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
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

namespace {

void read_conditions(Reader& reader, const Node& key, const Node& node, std::vector<Condition>& into) {
    for (const auto& item : node.items) {
        auto condition = read_condition(reader, key, item, "it would cover every cell");
        condition.where = item.where;
        if (item.kind == Node::Kind::map && !item.members.empty()) into.push_back(std::move(condition));
    }
}

}  // namespace

void read_exclude(Reader& reader, const Node& key, const Node& node) {
    read_conditions(reader, key, node, reader.matrix.exclude);
}

void read_keep(Reader& reader, const Node& key, const Node& node) {
    read_conditions(reader, key, node, reader.matrix.keep);
}

void read_rules(Reader& reader, const Node& key, const Node& node) {
    for (const auto& item : node.items) {
        const Entry entry(reader, key, item);
        if (!entry.is_map(
                "{id: gcp-driver, when: {platform: gcp}, require: {driver: \"470.*\"}, because: \"...\"}"))
            continue;
        entry.refuse_keys_beside({"id", "when", "require", "because", "source", "stage", "severity"});
        OwnRule rule;
        const auto id =
            entry.word("id", "findings are named by it",
                       "a word of lower-case letters, digits and '-', such as gcp-driver", is_rule_id);
        rule.id = id.text;
        rule.where = id.where;
        rule.when = entry.condition("when", kEveryCell);
        if (entry.required("require", "what the cells have to meet") != nullptr)
            rule.require = entry.condition("require", "it would require nothing");
        rule.because = entry.sentence(entry.required("because", "the reason is what the finding says"));
        rule.source = entry.sentence(entry.find("source"));
        const auto& stages = stage_names();
        entry.optional("stage", rule.stage, text::join(stages, ", "), [&](const std::string& text) {
            return std::find(stages.begin(), stages.end(), text) != stages.end();
        });
        std::string severity;
        entry.optional("severity", severity, "error or warning",
                       [](std::string_view word) { return word == "error" || word == "warning"; });
        if (severity == "warning") rule.severity = Severity::warning;
        entry.refuse_name_of(reader.matrix.rules, rule, &OwnRule::id, "an earlier rule", "rule");
        reader.matrix.rules.push_back(std::move(rule));
    }
}

void read_waive(Reader& reader, const Node& key, const Node& node) {
    for (const auto& item : node.items) {
        const Entry entry(reader, key, item);
        if (!entry.is_map(
                "{rule: end-of-life, when: {cuda: \"11.3.1\"}, because: \"mirrored\", until: 2027-03-31}"))
            continue;
        entry.refuse_keys_beside({"rule", "when", "because", "until"});
        Waiver waiver;
        const auto rule = entry.word("rule", "whose findings are accepted",
                                     "the id of a rule such as end-of-life", is_rule_id);
        waiver.rule = rule.text;
        waiver.where = rule.where;
        waiver.when = entry.condition("when", kEveryCell);
        waiver.because =
            entry.sentence(entry.required("because", "a finding is not accepted without a reason"));
        waiver.until =
            entry.word("until", "a finding is not accepted for ever", "a day such as 2027-03-31", is_date)
                .text;
        reader.matrix.waivers.push_back(std::move(waiver));
    }
}

Json condition_json(const Condition& condition) {
    auto map = Json::object();
    for (const auto& clause : condition.clauses) {
        auto alternatives =
            list_json(clause.any_of, [](const auto& all) { return Json(alternative_text(all)); });
        append_member(map, std::string(info(clause.field).name),
                      alternatives.size() == 1 ? std::move(alternatives[0]) : std::move(alternatives));
    }
    return map;
}

Json write_exclude(const Matrix& matrix) {
    return list_json(matrix.exclude, condition_json);
}

Json write_keep(const Matrix& matrix) {
    return list_json(matrix.keep, condition_json);
}

Json write_rules(const Matrix& matrix) {
    return list_json(matrix.rules, [](const OwnRule& rule) {
        Json entry{{"id", rule.id}};
        if (!rule.when.clauses.empty()) entry["when"] = condition_json(rule.when);
        entry["require"] = condition_json(rule.require);
        entry["because"] = rule.because;
        if (!rule.source.empty()) entry["source"] = rule.source;
        if (rule.stage != OwnRule{}.stage) entry["stage"] = rule.stage;
        if (rule.severity != Severity::error) entry["severity"] = to_string(rule.severity);
        return entry;
    });
}

Json write_waive(const Matrix& matrix) {
    return list_json(matrix.waivers, [](const Waiver& waiver) {
        Json entry{{"rule", waiver.rule}};
        if (!waiver.when.clauses.empty()) entry["when"] = condition_json(waiver.when);
        entry["because"] = waiver.because;
        entry["until"] = waiver.until;
        return entry;
    });
}

}  // namespace cudamatrix
