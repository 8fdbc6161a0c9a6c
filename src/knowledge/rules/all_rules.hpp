// The functions of the list in all_rules.def.
#pragma once

#include <string_view>
#include <vector>

#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {

/// In the order of all_rules.def.
[[nodiscard]] const std::vector<Rule>& all_rules();
[[nodiscard]] const Rule* rule_named(std::string_view id);

/// Whether every need of the rule is met by the fields of the cell.
[[nodiscard]] bool applies(const Rule& rule, const Cell& cell);

#define CUDAMATRIX_RULE(name) [[nodiscard]] Rule name();
#include "knowledge/rules/all_rules.def"
#undef CUDAMATRIX_RULE

}  // namespace cudamatrix::rules
