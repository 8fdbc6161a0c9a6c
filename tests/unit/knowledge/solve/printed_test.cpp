// What tests/verdicts prints: the findings of a rule with the fixes that the commands give, each of which is
// applied and judged again; and cells that all rules judge together.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "knowledge/finding/finding.hpp"
#include "unit/knowledge/rules/entries.hpp"
#include "unit/knowledge/solve/fix_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

// The lines below an entry, as they are today.
std::vector<std::string> printed_lines(std::string_view rule, const Judgement& judgement) {
    std::vector<std::string> lines;
    for (const auto& group : judgement.findings) {
        const auto& finding = group.finding;
        if (finding.rule != rule) continue;
        lines.push_back(finding_line(finding));
        if (!finding.fixes.empty()) lines.push_back("fix: " + finding.fix_text());
    }
    return lines;
}

}  // namespace

TEST_CASE("verdicts: what is printed, and every fix applied") {
    std::size_t texts = 0, fixes = 0;
    solve::FixTally tally;
    for (const auto& rule : all_rules()) {
        auto entries = read_entries(rule.id);
        for (auto& entry : entries) {
            CAPTURE(rule.id);
            CAPTURE(entry.line);
            if (has_own_facts(entry)) {
                for (const auto& cell : entry.cells) {
                    const auto answer = asked_example(rule, cell, facts_of(entry), day_of(entry));
                    CHECK(answer.asked);
                    CHECK(rules::word_of(answer.findings) == entry.verdict);
                }
            }
            if (entry.printed.empty()) continue;
            REQUIRE_MESSAGE(entry.cells.size() == 1, "a text belongs to one cell");
            const auto matrix = read_cell(entry.cells.front());
            const golden::JudgedBy by{facts_of(entry), day_of(entry)};
            const auto judgement = golden::printed(matrix, tally, by);
            fixes += golden::check_fixes(matrix, judgement, by, rule.id);
            const auto lines = printed_lines(rule.id, judgement);
            texts += lines.size();
            if (updating()) entry.printed = lines;
            CHECK(text::join(lines, "\n") == text::join(entry.printed, "\n"));
        }
        if (updating()) write_entries(rule.id, entries);
    }
    MESSAGE(fmt::format("{} lines of text, {} fixes applied", texts, fixes));
    CHECK(texts > 1000);
    CHECK(fixes > 500);
}

TEST_CASE("verdicts: all rules together") {
    std::size_t cells = 0;
    for (const auto& entry : read_entries("all-rules")) {
        for (const auto& cell : entry.cells) {
            CAPTURE(cell);
            ++cells;
            const auto judgement = golden::judged(read_cell(cell));
            REQUIRE(judgement.cells.size() == 1);
            CHECK(to_string(judgement.cells.front().verdict) == entry.verdict);
        }
    }
    MESSAGE(fmt::format("{} cells", cells));
}
