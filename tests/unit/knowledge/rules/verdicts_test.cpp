// tests/verdicts/RULE.txt: cells of one rule, each line with the verdict that it has to give. Every rule has
// a file: at least one cell that it does not take, twice as many that it accepts, and one of which it does
// not know, or a line that says why it never lacks a fact of its own.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "asked_example.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "folders.hpp"
#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(tests_dir()) / "verdicts";

// How many cells of each verdict the file holds; all of them are judged.
std::map<std::string, std::size_t> judge_lines(const Rule& rule, const std::string& text) {
    std::map<std::string, std::size_t> lines;
    for (const auto& line : text::split(text, '\n')) {
        if (line.empty() || line.front() == '#') continue;
        CAPTURE(line);
        const auto colon = line.find(": ");
        REQUIRE(colon != std::string::npos);
        const auto expected = line.substr(0, colon);
        ++lines[expected];
        if (expected == "never unknown") continue;
        const auto said = asked_example(rule, std::string_view(line).substr(colon + 2));
        CHECK(said.asked);
        CHECK(to_string(verdict_of(said.findings)) == expected);
    }
    return lines;
}

}  // namespace

TEST_CASE("every rule has cells that it refuses, accepts and does not know") {
    std::size_t cells = 0;
    std::set<std::string> files;
    for (const auto& rule : all_rules()) {
        CAPTURE(rule.id);
        const auto name = std::string(rule.id) + ".txt";
        files.insert(name);
        const auto text = file::read(kFolder / name, 1u << 20);
        CHECK_MESSAGE(text, "tests/verdicts/" << name << " is missing: write it, see the head of this test");
        if (!text) continue;
        auto lines = judge_lines(rule, *text);
        const auto refused = lines["rejected"] + lines["degraded"];
        CHECK(refused >= 1);
        CHECK(lines["accepted"] >= 2 * refused);
        CHECK(lines["unknown"] + lines["never unknown"] >= 1);
        cells += refused + lines["accepted"] + lines["unknown"];
    }
    for (const auto& entry : fs::directory_iterator(kFolder))
        CHECK_MESSAGE(files.contains(entry.path().filename().string()), entry.path().filename().string());
    MESSAGE(fmt::format("{} rules, {} cells", files.size(), cells));
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
