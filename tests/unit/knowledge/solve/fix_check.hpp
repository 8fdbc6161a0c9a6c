// The fixes that are printed, and every one of them applied and judged again.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "knowledge/judge/deciding.hpp"
#include "knowledge/judge/evaluate.hpp"
#include "knowledge/solve/fixes.hpp"
#include "matrix/matrix.hpp"
#include "unit/knowledge/rules/golden_case.hpp"

namespace cudamatrix::golden {

inline bool has_field(const std::vector<std::pair<Field, std::string>>& list, Field field) {
    return std::any_of(list.begin(), list.end(), [&](const auto& entry) { return entry.first == field; });
}

// Whether two cells say the same, leaving out what a fix changed.
inline bool same_words(const Cell& a, const Cell& b, const FixOption& changed) {
    return std::all_of(all_fields().begin(), all_fields().end(), [&](const FieldInfo& info) {
        if (has_field(changed.set, info.field)) return true;
        if (a.has(info.field) != b.has(info.field)) return false;
        return !a.has(info.field) || a.get(info.field)->text == b.get(info.field)->text;
    });
}

inline rules::Findings findings_of(const Judgement& judgement, const JudgedCell& cell) {
    rules::Findings findings;
    for (const auto id : cell.findings)
        findings.push_back(judgement.findings[id].finding);
    return findings;
}

// Rules that refuse the cell, or cannot answer, and did not do so before.
inline std::string new_trouble(const Matrix& fixed, const Cell& cell, const rules::Findings& before,
                               const rules::Findings& after) {
    const DecidingStages deciding(fixed);
    for (const auto& now : after) {
        if (deciding.weigh(now.stage, now.verdict(), cell) < Verdict::unknown) continue;
        const bool known = std::any_of(before.begin(), before.end(), [&](const Finding& then) {
            return then.rule == now.rule && then.verdict() >= now.verdict();
        });
        if (!known) return fmt::format("{}: {}", now.rule, now.message);
    }
    return {};
}

inline void check_set(const Matrix& matrix, const JudgedBy& by, const Judgement& judgement,
                      const JudgedCell& cell, const Finding& finding, const FixOption& option) {
    Matrix fixed = matrix;
    for (const auto& [field, text] : option.set) {
        auto changed = with_override(fixed, field, text, {fixed.path, 0, 0, 1});
        REQUIRE_MESSAGE(changed, option.text);
        fixed = *std::move(changed);
    }
    const auto again = judged(fixed, by);
    std::size_t met = 0;
    for (const auto& other : again.cells) {
        if (!same_words(cell.cell, other.cell, option)) continue;
        ++met;
        const auto after = findings_of(again, other);
        CHECK_MESSAGE(rules::vanished(finding, after),
                      fmt::format("'{}' stays after its fix: {}", finding.message, option.text));
        if (option.text.ends_with(solve::kNotEnough)) continue;
        const auto trouble = new_trouble(fixed, other.cell, findings_of(judgement, cell), after);
        CHECK_MESSAGE(trouble.empty(),
                      fmt::format("the fix of '{}', {}, meets {}", finding.message, option.text, trouble));
    }
    CHECK_MESSAGE(met > 0, option.text);
}

inline void check_exclude(const Matrix& matrix, const JudgedBy& by, const JudgedCell& cell,
                          const FixOption& option) {
    Matrix fixed = matrix;
    Condition condition;
    for (const auto& [field, text] : option.exclude) {
        condition.clauses.push_back({field, {{Predicate{Predicate::Op::equal, text}}}, {}});
    }
    fixed.exclude.push_back(condition);
    const auto again = judged(fixed, by);
    CHECK(!again.cells.empty());
    for (const auto& other : again.cells)
        CHECK_MESSAGE(!same_words(cell.cell, other.cell, option), option.text);
}

// As the commands print it.
inline Judgement printed(const Matrix& matrix, solve::FixTally& sum, const JudgedBy& by = {}) {
    auto judgement = judged(matrix, by);
    const auto verified = solve::verify_fixes(matrix, by.facts, by.today, judgement);
    REQUIRE(verified.ok());
    const auto& tally = *verified;
    if (!tally.complete) MESSAGE("a search for fixes was given up");
    for (const auto part : {&solve::FixTally::offered, &solve::FixTally::kept, &solve::FixTally::replaced,
                            &solve::FixTally::completed, &solve::FixTally::dropped,
                            &solve::FixTally::searched, &solve::FixTally::without})
        sum.*part += tally.*part;
    return judgement;
}

// Applies every fix of every finding, or of those of `rule`, to the cell that it is for; gives their number.
inline std::size_t check_fixes(const Matrix& matrix, const Judgement& judgement, const JudgedBy& by = {},
                               std::string_view rule = {}) {
    std::size_t applied = 0;
    const auto tried_on = solve::cells_to_fix(judgement);
    for (std::size_t id = 0; id < judgement.findings.size(); ++id) {
        if (tried_on[id] == judgement.cells.size()) continue;
        const auto& cell = judgement.cells[tried_on[id]];
        const auto& finding = judgement.findings[id].finding;
        if (!rule.empty() && finding.rule != rule) continue;
        for (const auto& option : finding.fixes) {
            ++applied;
            CHECK(option.set.empty() != option.exclude.empty());
            if (option.exclude.empty()) {
                check_set(matrix, by, judgement, cell, finding, option);
            } else {
                check_exclude(matrix, by, cell, option);
            }
        }
    }
    return applied;
}

}  // namespace cudamatrix::golden
