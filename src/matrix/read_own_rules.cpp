// rules and waive: what the user adds to the judging, and what they accept on purpose.
#include <algorithm>

#include "base/date.hpp"
#include "base/text.hpp"
#include "matrix/entry.hpp"
#include "matrix/reader.hpp"
#include "matrix/value.hpp"

namespace cudamatrix {
namespace {

using yaml::Node;

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
