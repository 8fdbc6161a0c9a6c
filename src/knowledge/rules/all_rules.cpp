#include "knowledge/rules/rule.hpp"

#include <algorithm>

#include "knowledge/rules/nightly.hpp"

namespace cudamatrix::rules {

const std::vector<Rule>& all_rules() {
#define CUDAMATRIX_RULE(name) with_nightlies(name()),
    static const std::vector<Rule> rules{
#include "knowledge/rules/all_rules.def"
    };
#undef CUDAMATRIX_RULE
    return rules;
}

const Rule* rule_named(std::string_view id) {
    for (const auto& rule : all_rules()) {
        if (rule.id == id) return &rule;
    }
    return nullptr;
}

bool applies(const Rule& rule, const Cell& cell) {
    return std::all_of(rule.needs.begin(), rule.needs.end(), [&](FieldSet need) {
        return std::any_of(all_fields().begin(), all_fields().end(), [&](const FieldInfo& field) {
            return need.contains(field.field) && cell.has(field.field);
        });
    });
}

std::string need_text(const Rule& rule, FieldSet need) {
    std::string out(rule.id);
    std::string_view separator = ": ";
    for (const auto& field : all_fields()) {
        if (!need.contains(field.field)) continue;
        out.append(separator).append(field.name);
        separator = " or ";
    }
    return out;
}

}  // namespace cudamatrix::rules
