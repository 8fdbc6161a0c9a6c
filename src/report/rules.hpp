// The reports of `rules`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/rules/rule.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::report {

/// What `rules` prints from: the list, the facts that its examples are judged by, and the day.
struct RulesReport {
    std::span<const rules::Rule> rules;
    const Facts& facts;
    std::string today;
    ToolInfo tool;
    TextOptions text;
};

/// One line for each rule, then how many there are at each stage.
[[nodiscard]] std::string rules_text(const RulesReport& report);
[[nodiscard]] std::string rules_json(const RulesReport& report);

/// One rule: what it says and why, the fields that it reads, a matrix that fails and one that passes, and
/// what it says about the failing one. An id that no rule has is an input failure with "did you mean".
[[nodiscard]] Result<std::string> rule_text(const RulesReport& report, std::string_view id);
[[nodiscard]] Result<std::string> rule_json(const RulesReport& report, std::string_view id);

}  // namespace cudamatrix::report
