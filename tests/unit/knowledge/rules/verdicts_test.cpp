// tests/verdicts/RULE.txt, the verdicts of its entries (entries.hpp). Every rule has a file: at least one
// cell that it refuses, twice as many that it accepts (six are enough), and one of which it does not know, or
// a line that says why it never lacks a fact of its own. What is printed for them: solve/printed_test.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "entries.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

TEST_CASE("every rule has cells that it refuses, accepts and does not know") {
    std::size_t cells = 0;
    std::set<std::string> files{"all-rules.txt"};
    for (const auto& rule : all_rules()) {
        CAPTURE(rule.id);
        files.insert(std::string(rule.id) + ".txt");
        std::map<std::string, std::size_t> lines;
        for (const auto& entry : read_entries(rule.id)) {
            CAPTURE(entry.line);
            if (entry.verdict == kNeverUnknown) ++lines["unknown"];
            if (entry.cells.empty() || has_own_facts(entry)) continue;
            const auto today = day_of(entry);
            for (const auto& cell : entry.cells) {
                CAPTURE(cell);
                ++lines[entry.verdict];
                const auto answer = asked_example(rule, cell, Facts::embedded(), today);
                CHECK(answer.asked);
                CHECK(word_of(answer.findings) == entry.verdict);
            }
            cells += entry.cells.size();
        }
        const auto refused = lines["rejected"] + lines["degraded"] + lines["notice"];
        CHECK(refused >= 1);
        CHECK(lines["accepted"] >= std::min<std::size_t>(2 * refused, 6));
        CHECK(lines["unknown"] >= 1);
    }
    for (const auto& file : std::filesystem::directory_iterator(entries_path("x").parent_path()))
        CHECK_MESSAGE(files.contains(file.path().filename().string()), file.path().filename().string());
    MESSAGE(fmt::format("{} rules, {} cells", all_rules().size(), cells));
}

// Whatever a rule says rests on facts: where those are not verified, the answer is unknown. Twice, since a
// rule may pass over doubtful rows and cite others.
TEST_CASE("every rule does not know what rests on unverified facts") {
    std::set<std::string> doubted;
    auto facts = Facts::embedded();
    for (int round = 0; round < 2; ++round) {
        for (const auto& rule : all_rules()) {
            for (const auto& finding : asked_example(rule, rule.fails, facts).findings) {
                for (const auto& fact : finding.facts)
                    doubted.insert(fact.id);
            }
        }
        facts = with_doubts(doubted);
    }
    for (const auto& rule : all_rules()) {
        CAPTURE(rule.id);
        CHECK(verdict_of(asked_example(rule, rule.fails, facts).findings) == Verdict::unknown);
    }
    MESSAGE(fmt::format("{} facts doubted", doubted.size()));
}
