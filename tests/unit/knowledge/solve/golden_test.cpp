// Every folder of tests/golden (the report itself: excerpts, counts, several cells, own rules, waivers) and
// every shipped example: the whole text of a check with the fixes that are printed, and every one of them
// applied and judged again. What one rule prints for one cell is in tests/verdicts.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "folders.hpp"
#include "knowledge/rules/rule.hpp"
#include "unit/knowledge/rules/entries.hpp"
#include "unit/knowledge/solve/fix_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::golden;

namespace {

const fs::path kGolden = fs::path(tests_dir()) / "golden";

bool is_known(const Matrix& matrix, std::string_view rule) {
    return rule == kWaiverExpired || rules::rule_named(rule) != nullptr ||
           std::any_of(matrix.rules.begin(), matrix.rules.end(),
                       [&](const OwnRule& own) { return own.id == rule; });
}

std::string in_words(const solve::FixTally& tally) {
    return fmt::format(
        "{} fixes offered by rules: {} hold, {} replaced, {} completed, {} dropped; {} found beside them; {} "
        "rejections without one",
        tally.offered, tally.kept, tally.replaced, tally.completed, tally.dropped, tally.searched,
        tally.without);
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
    CHECK(folders.size() >= 7);
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
    CHECK(folders.size() >= 5);
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
