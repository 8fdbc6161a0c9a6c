// The small parts of judging, each by itself.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "knowledge/finding/finding.hpp"
#include "knowledge/judge/finding_index.hpp"
#include "knowledge/judge/judge.hpp"
#include "matrix/matrix_file.hpp"
#include "read_matrix.hpp"
#include "unit/knowledge/rules/rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

using F = Field;

}  // namespace

TEST_CASE("progress: a stop is asked for once") {
    int asked = 0;
    const OnProgress stop = [&](const JudgingProgress&) {
        ++asked;
        return false;
    };
    Progress progress(stop);
    progress.begin("step", 2);
    CHECK_FALSE(progress.next());
    CHECK_FALSE(progress.next());
    CHECK(asked == 1);
    std::string axis;
    for (int i = 0; i < 40; ++i)
        axis += (i == 0 ? "" : ", ") + std::to_string(i + 1);
    const auto matrix =
        test::read("version: 1\naxes: {vram_gb: [" + axis + "], shm_gb: [" + axis + "]}\nset: {gpu: T4}\n");
    for (const bool list_cells : {true, false}) {
        const auto stopped =
            judge(matrix, Facts::embedded(), {std::string(kToday), 100'000, list_cells, stop});
        REQUIRE_FALSE(stopped);
        CHECK(stopped.failure().code == ExitCode::interrupted);
    }
}

TEST_CASE("notes of facts: without a source, with several, measured; a waived finding") {
    CHECK(fact_note({"x", {}, "2026-11-21", Confidence::read}) == "fact x (as of 2026-11-21)");
    CHECK(fact_note({"x", {"a", "b", "c"}, "2026-11-21", Confidence::measured}) ==
          "fact x, a and 2 more (as of 2026-11-21, measured)");
    FindingGroup group;
    group.finding.rule = "r";
    group.finding.message = "it fails";
    group.cells = 1;
    group.first_cell = "c";
    group.waived = Waived{"mirrored", "2027-01-01", {"matrix.yaml", 7, 1, 1}};
    const auto text = render_finding(group, {}, false);
    CHECK(text.find("note: waived error: it fails [r, at runtime]") != std::string::npos);
    CHECK(text.find("waived until 2027-01-01 (line 7): mirrored") != std::string::npos);
}

TEST_CASE("excludes: lists of several words, and fields that the cell does not have") {
    const auto matrix = test::read(
        "version: 1\naxes: {uses: [[THC, AT_CHECK], [texture-reference]], torch: [1.11.0, 1.10.2]}\ninclude: [{torch: "
        "1.9.0}]\n");
    for_each_cell(matrix, [&](const Cell& cell) {
        Finding finding;
        finding.about = {F::uses, F::torch};
        const auto option = exclude_fix(matrix, cell, finding);
        const auto* uses = cell.get(F::uses);
        if (uses == nullptr) {
            REQUIRE(option);
            CHECK(option->text == "exclude: {torch: \"1.9.0\"}");
        } else {
            CHECK(option.has_value() == (uses->items.size() == 1));
        }
        return true;
    });
}

TEST_CASE("a finding stands where the first field stands that the cell has") {
    const auto matrix = test::read("version: 1\naxes: {cuda: [12.4.1]}\n");
    FindingIndex index(matrix);
    for_each_cell(matrix, [&](const Cell& cell) {
        Finding finding;
        finding.primary = F::flavour;
        for (const auto& about : {std::vector{F::os, F::cuda}, std::vector{F::os}, std::vector<Field>{}}) {
            finding.about = about;
            finding.message += "x";
            static_cast<void>(index.of(finding, cell, nullptr, [&] { return finding; }));
        }
        return true;
    });
    const auto found = std::move(index).take();
    REQUIRE(found.size() == 3);
    CHECK(found[0].where.line == 2);
    CHECK(found[1].where.line == 0);
    CHECK(found[2].where.line == 0);
}

TEST_CASE("own rules: values that occur twice, more than three, and none; waivers") {
    const auto rules_of = [](const std::string& text) {
        const auto matrix = test::read("version: 1\n" + text);
        const auto judgement = judge(matrix, Facts::embedded(), {std::string(kToday), 100'000, true, {}});
        std::string out;
        if (!judgement) {
            for (const auto& mistake : judgement.failure().diagnostics)
                out += mistake.message + " | " + mistake.fix + "\n";
            return out;
        }
        for (const auto& group : judgement->findings) {
            if (group.finding.rule == "own")
                out += group.finding.fix_text() + (group.waived ? " waived" : "") + "\n";
        }
        return out;
    };
    CHECK(
        rules_of("axes: {driver: [\"470.161.03\", \"535.183.01\", \"535.183.01\", \"550.54.15\", "
                 "\"570.124.06\", \"580.95.05\"], python: [\"3.9\", \"3.10\", \"3.11\", \"3.12\", \"3.13\", "
                 "\"3.14\"]}\nzip: [[driver, python]]\nrules: [{id: own, require: {driver: \">=500\"}, "
                 "because: x}]\n") ==
        "driver 535.183.01, or driver 550.54.15, or driver 570.124.06, or exclude: {driver: "
        "\"470.161.03\"}\n");
    CHECK(rules_of("set: {driver: \"470.161.03\"}\nrules: [{id: own, require: {driver: \">=500\"}, because: "
                   "x}]\n") == "\n");
    CHECK(rules_of(
              "set: {driver: \"470.161.03\"}\nwaive: [{rule: zzzzzzzz, because: x, until: 2027-01-01}]\n") ==
          "waive: there is no rule zzzzzzzz | `cudamatrix rules list` lists them\n");
    CHECK(
        rules_of("set: {driver: \"470.161.03\"}\nrules: [{id: own, require: {driver: \"550\"}, because: x}]\n"
                 "waive: [{rule: own, because: a, until: 2027-01-01}, {rule: own, because: b, until: "
                 "2027-01-01}]\n") == "driver 550 waived\n");
}
