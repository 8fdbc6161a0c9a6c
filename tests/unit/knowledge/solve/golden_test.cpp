// Every folder of tests/golden and every shipped example: the whole text of a check with the fixes that are
// printed, and every one of them applied and judged again.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "folders.hpp"
#include "knowledge/judge/evaluate.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/solve/fixes.hpp"
#include "matrix/override.hpp"
#include "unit/knowledge/rules/golden_case.hpp"

using namespace cudamatrix;
using namespace cudamatrix::golden;

namespace {

const fs::path kGolden = fs::path(tests_dir()) / "golden";

bool is_known(const Matrix& matrix, std::string_view rule) {
    return rule == kWaiverExpired || rules::rule_named(rule) != nullptr ||
           std::any_of(matrix.rules.begin(), matrix.rules.end(),
                       [&](const OwnRule& own) { return own.id == rule; });
}

bool has_field(const std::vector<std::pair<Field, std::string>>& list, Field field) {
    return std::any_of(list.begin(), list.end(), [&](const auto& entry) { return entry.first == field; });
}

// Whether two cells say the same, leaving out what a fix changed.
bool same_words(const Cell& a, const Cell& b, const FixOption& changed) {
    return std::all_of(all_fields().begin(), all_fields().end(), [&](const FieldInfo& info) {
        if (has_field(changed.set, info.field)) return true;
        if (a.has(info.field) != b.has(info.field)) return false;
        return !a.has(info.field) || a.get(info.field)->text == b.get(info.field)->text;
    });
}

rules::Findings findings_of(const Judgement& judgement, const JudgedCell& cell) {
    rules::Findings findings;
    for (const auto id : cell.findings)
        findings.push_back(judgement.findings[id].finding);
    return findings;
}

// Rules that refuse the cell, or cannot answer, and did not do so before.
std::string new_trouble(const rules::Findings& before, const rules::Findings& after) {
    for (const auto& now : after) {
        if (now.verdict() < Verdict::unknown) continue;
        const bool known = std::any_of(before.begin(), before.end(), [&](const Finding& then) {
            return then.rule == now.rule && then.verdict() >= now.verdict();
        });
        if (!known) return fmt::format("{}: {}", now.rule, now.message);
    }
    return {};
}

void check_set(const Matrix& matrix, const Judgement& judgement, const JudgedCell& cell,
               const Finding& finding, const FixOption& option) {
    Matrix fixed = matrix;
    for (const auto& [field, text] : option.set) {
        auto changed = with_override(fixed, field, text, {fixed.path, 0, 0, 1});
        REQUIRE_MESSAGE(changed, option.text);
        fixed = *std::move(changed);
    }
    const auto again = judged(fixed);
    std::size_t met = 0;
    for (const auto& other : again.cells) {
        if (!same_words(cell.cell, other.cell, option)) continue;
        ++met;
        const auto after = findings_of(again, other);
        CHECK_MESSAGE(rules::vanished(finding, after),
                      fmt::format("'{}' stays after its fix: {}", finding.message, option.text));
        if (option.text.ends_with(solve::kNotEnough)) continue;
        const auto trouble = new_trouble(findings_of(judgement, cell), after);
        CHECK_MESSAGE(trouble.empty(),
                      fmt::format("the fix of '{}', {}, meets {}", finding.message, option.text, trouble));
    }
    CHECK_MESSAGE(met > 0, option.text);
}

void check_exclude(const Matrix& matrix, const JudgedCell& cell, const FixOption& option) {
    Matrix fixed = matrix;
    Condition condition;
    for (const auto& [field, text] : option.exclude) {
        condition.clauses.push_back({field, {{Predicate{Predicate::Op::equal, text}}}, {}});
    }
    fixed.exclude.push_back(condition);
    const auto again = judged(fixed);
    CHECK(!again.cells.empty());
    for (const auto& other : again.cells)
        CHECK_MESSAGE(!same_words(cell.cell, other.cell, option), option.text);
}

// As the commands print it.
Judgement printed(const Matrix& matrix, solve::FixTally& sum) {
    auto judgement = judged(matrix);
    const auto verified = solve::verify_fixes(matrix, Facts::embedded(), kOptions.today, judgement);
    REQUIRE(verified.ok());
    const auto& tally = *verified;
    if (!tally.complete) MESSAGE("a search for fixes was given up");
    for (const auto part : {&solve::FixTally::offered, &solve::FixTally::kept, &solve::FixTally::replaced,
                            &solve::FixTally::completed, &solve::FixTally::dropped,
                            &solve::FixTally::searched, &solve::FixTally::without})
        sum.*part += tally.*part;
    return judgement;
}

std::string in_words(const solve::FixTally& tally) {
    return fmt::format(
        "{} fixes offered by rules: {} hold, {} replaced, {} completed, {} dropped; {} found beside them; {} "
        "rejections without one",
        tally.offered, tally.kept, tally.replaced, tally.completed, tally.dropped, tally.searched,
        tally.without);
}

// Applies every fix of every finding to the first cell that has it; gives their number.
std::size_t check_fixes(const Matrix& matrix, const Judgement& judgement) {
    std::size_t applied = 0;
    std::vector<bool> done(judgement.findings.size(), false);
    for (const auto& cell : judgement.cells) {
        for (const auto id : cell.findings) {
            if (done[id]) continue;
            done[id] = true;
            const auto& finding = judgement.findings[id].finding;
            for (const auto& option : finding.fixes) {
                ++applied;
                CHECK(option.set.empty() != option.exclude.empty());
                if (option.exclude.empty()) {
                    check_set(matrix, judgement, cell, finding, option);
                } else {
                    check_exclude(matrix, cell, option);
                }
            }
        }
    }
    return applied;
}

}  // namespace

TEST_CASE("golden: rejected matrices") {
    const auto folders = cases(kGolden / "reject");
    std::size_t fixes = 0;
    solve::FixTally sum;
    for (const auto& folder : folders) {
        CAPTURE(folder.filename().string());
        const auto matrix = read_case(folder);
        const auto judgement = printed(matrix, sum);
        CHECK(judgement.count(Verdict::rejected) + judgement.count(Verdict::unknown) > 0);
        for (const auto& group : judgement.findings) {
            CHECK(group.where.line > 0);
            CHECK(is_known(matrix, group.finding.rule));
            if (group.finding.severity != Severity::error) continue;
            CHECK_MESSAGE(!group.finding.fixes.empty(), group.finding.message);
            CHECK_MESSAGE(!group.finding.facts.empty(), group.finding.message);
        }
        fixes += check_fixes(matrix, judgement);
        compare(folder, check_text(matrix, judgement));
    }
    MESSAGE(fmt::format("{} cases, {} fixes applied; {}", folders.size(), fixes, in_words(sum)));
    CHECK(folders.size() >= 20);
    CHECK(fixes >= folders.size());
}

TEST_CASE("golden: matrices without a rejection") {
    const auto folders = cases(kGolden / "accept");
    solve::FixTally sum;
    for (const auto& folder : folders) {
        CAPTURE(folder.filename().string());
        const auto matrix = read_case(folder);
        const auto judgement = printed(matrix, sum);
        CHECK(judgement.count(Verdict::rejected) == 0);
        CHECK(judgement.count(Verdict::unknown) == 0);
        CHECK(!judgement.cells.empty());
        check_fixes(matrix, judgement);
        compare(folder, check_text(matrix, judgement));
    }
    MESSAGE(fmt::format("{} cases; {}", folders.size(), in_words(sum)));
    CHECK(folders.size() >= 10);
}

TEST_CASE("golden: the examples that are shipped") {
    const auto folders = cases(fs::path(source_dir()) / "examples");
    solve::FixTally sum;
    for (const auto& folder : folders) {
        CAPTURE(folder.filename().string());
        const auto matrix = read_case(folder);
        CHECK(matrix.warnings.empty());
        const auto judgement = printed(matrix, sum);
        CHECK(judgement.count(Verdict::unknown) == 0);
        CHECK(judgement.count(Verdict::rejected) < judgement.cells.size());
        check_fixes(matrix, judgement);
        compare(folder, check_text(matrix, judgement));
    }
    MESSAGE(fmt::format("{} examples; {}", folders.size(), in_words(sum)));
    CHECK(folders.size() >= 6);
}

TEST_CASE("golden: every rule refuses a cell of a case, and takes one of a case without a rejection") {
    std::set<std::string> refused, taken;
    for (const std::string folder : {"accept", "reject"}) {
        for (const auto& path : cases(kGolden / folder)) {
            const auto matrix = read_case(path);
            const auto judgement = judged(matrix);
            for (const auto& cell : judgement.cells) {
                std::set<std::string> said;
                for (const auto id : cell.findings) {
                    const auto& finding = judgement.findings[id].finding;
                    said.emplace(finding.rule);
                    if (finding.verdict() > Verdict::accepted) refused.emplace(finding.rule);
                }
                if (folder == "reject") continue;
                for (const auto& rule : rules::all_rules()) {
                    if (rules::applies(rule, cell.cell) && said.count(std::string(rule.id)) == 0)
                        taken.emplace(rule.id);
                }
            }
        }
    }
    for (const auto& rule : rules::all_rules()) {
        CHECK_MESSAGE(refused.count(std::string(rule.id)) == 1,
                      "no cell of tests/golden is refused by " << rule.id);
        CHECK_MESSAGE(taken.count(std::string(rule.id)) == 1,
                      "no cell of tests/golden/accept is taken by " << rule.id);
    }
}
