// Asks one rule about one cell, from the words that a user would write.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "knowledge/judge/evaluate.hpp"
#include "knowledge/rules/rule.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::rules {

inline constexpr std::string_view kToday = "2026-11-21";

using Words = std::vector<std::pair<Field, std::string>>;

inline Findings ask(std::string_view rule_id, const Words& words, const Facts& facts = Facts::embedded(),
                    std::string_view today = kToday) {
    std::deque<Value> values;
    Cell cell;
    for (const auto& [field, text] : words) {
        // A text that the reader would refuse reaches the rule as it is: a rule holds without the reader's
        // fence.
        auto value = value_from_text(field, text);
        cell.set(field,
                 &values.emplace_back(std::holds_alternative<Value>(value) ? std::get<Value>(std::move(value))
                                                                           : Value{text, {}, {}}));
    }
    const auto* rule = rule_named(rule_id);
    if (rule == nullptr || !applies(*rule, cell)) return {};
    return evaluate(*rule, cell, facts, today);
}

inline Verdict verdict_of(const Findings& findings) {
    auto verdict = Verdict::accepted;
    for (const auto& finding : findings)
        verdict = std::max(verdict, finding.verdict());
    return verdict;
}

/// The word of an entry: the verdict, or notice where an end of life is all that is said.
inline std::string_view word_of(const Findings& findings) {
    const auto verdict = verdict_of(findings);
    const bool is_notice = verdict == Verdict::accepted &&
                           std::any_of(findings.begin(), findings.end(), [](const auto& finding) {
                               return finding.severity == Severity::notice;
                           });
    return is_notice ? to_string(Severity::notice) : to_string(verdict);
}

inline Verdict verdict_of(std::string_view rule_id, const Words& words,
                          const Facts& facts = Facts::embedded()) {
    return verdict_of(ask(rule_id, words, facts));
}

}  // namespace cudamatrix::rules
