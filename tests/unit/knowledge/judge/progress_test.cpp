// Long judging says how far it is, and ends where it is told to.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "knowledge/judge/evaluate.hpp"
#include "knowledge/judge/judge.hpp"
#include "knowledge/rules/rule.hpp"
#include "matrix/matrix_file.hpp"

using namespace cudamatrix;

namespace {

constexpr auto kMatrix = R"(version: 1
name: long
axes:
  driver: ["470.161.03", "535.183.01", "550.54.15"]
  cuda: ["11.8.0", "12.4.1", "12.6.3"]
  torch: ["2.0.1+cu118", "2.6.0+cu124"]
  python: ["3.10", "3.12"]
  os: [ubuntu20.04, ubuntu22.04]
)";

Result<Judgement> watched(bool list_cells, OnProgress on_progress) {
    const auto matrix = read_matrix_text(kMatrix, "long.yaml");
    REQUIRE(matrix);
    JudgeOptions options{"2026-11-21", 100'000, list_cells, std::move(on_progress)};
    return judge(*matrix, Facts::embedded(), options);
}

}  // namespace

TEST_CASE("a count says which part of which step it has done") {
    std::vector<JudgingProgress> seen;
    const auto whole = watched(false, [&](const JudgingProgress& progress) {
        seen.push_back(progress);
        return true;
    });
    REQUIRE(whole);
    REQUIRE_FALSE(seen.empty());
    CHECK(seen.front().step == "rules asked");
    CHECK(seen.back().step == "tables counted");
    for (const auto& progress : seen)
        CHECK(progress.done <= progress.all);
    const auto silent = watched(false, {});
    REQUIRE(silent);
    CHECK(silent->verdicts == whole->verdicts);
}

TEST_CASE("a count that is told to stop has no result, at whichever step") {
    std::size_t questions = 0;
    REQUIRE(watched(false, [&](const JudgingProgress&) { return ++questions != 0; }));
    for (std::size_t last = 0; last < questions; last += 7) {
        std::size_t asked = 0;
        const auto stopped = watched(false, [&](const JudgingProgress&) { return asked++ < last; });
        REQUIRE_FALSE(stopped);
        CHECK(stopped.failure().code == ExitCode::interrupted);
        CHECK(stopped.failure().diagnostics.empty());
        CHECK(asked == last + 1);  // once is enough
    }
}

TEST_CASE("a count that is told to stop amid the rows of one rule has no result either") {
    // The own rule looks at all three axes: it is asked so often that the question comes before it is done.
    std::string numbers;
    for (int i = 1; i <= 33; ++i)
        numbers += (i == 1 ? "" : ", ") + std::to_string(i);
    std::string text = "version: 1\nname: wide\naxes:\n";
    for (const std::string field : {"vram_gb", "shm_gb", "mig"})
        text += "  " + field + ": [" + numbers + "]\n";
    text +=
        "rules: [{id: own, when: {vram_gb: \">1\", shm_gb: \">1\"}, require: {mig: \"<9\"}, because: x}]\n";
    const auto matrix = read_matrix_text(text, "wide.yaml");
    REQUIRE(matrix);
    std::string step;
    std::size_t done = 0, stops = 0;
    const auto stopped = judge(*matrix, Facts::embedded(),
                               {"2026-11-21", 100'000, false, [&](const JudgingProgress& progress) {
                                    step = progress.step;
                                    const bool amid = progress.done == done;  // no rule ended since
                                    done = progress.done;
                                    stops += amid ? 1 : 0;
                                    return !amid;
                                }});
    REQUIRE_FALSE(stopped);
    CHECK(stopped.failure().code == ExitCode::interrupted);
    CHECK(stopped.failure().diagnostics.empty());
    CHECK(step == "rules asked");
    CHECK(done > 0);
    CHECK(stops == 1);
}

TEST_CASE("the parts of a rule say together what it says") {
    std::size_t with_parts = 0;
    for (const auto& rule : rules::all_rules()) {
        if (rule.questions.empty()) continue;
        ++with_parts;
        CAPTURE(rule.id);
        const auto matrix = read_matrix_text(kMatrix, "long.yaml");
        REQUIRE(matrix);
        for_each_cell(*matrix, [&](const Cell& cell) {
            const auto whole = rules::ask(rule, cell, Facts::embedded(), "2026-11-21");
            rules::Findings apart;
            for (const auto& part : rule.questions) {
                CHECK(part.id == rule.id);
                if (!rules::applies(part, cell)) continue;
                for (auto& finding : rules::ask(part, cell, Facts::embedded(), "2026-11-21"))
                    apart.push_back(std::move(finding));
            }
            REQUIRE(apart.size() == whole.size());
            for (std::size_t i = 0; i < whole.size(); ++i) {
                CHECK(apart[i].message == whole[i].message);
                CHECK(apart[i].rule == whole[i].rule);
                CHECK(apart[i].stage == whole[i].stage);
            }
            return true;
        });
    }
    CHECK(with_parts >= 1);
}
