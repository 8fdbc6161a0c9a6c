// What holds for all rules: they see only what they declare, share their answers, and add up to verdicts.
#include <doctest/doctest.h>

#include <chrono>
#include <set>
#include <string>

#include "base/text.hpp"
#include "knowledge/finding/finding.hpp"
#include "knowledge/judge/deciding.hpp"
#include "knowledge/judge/judge.hpp"
#include "matrix/matrix_file.hpp"
#include "read_matrix.hpp"
#include "unit/knowledge/rules/rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;
using test::read;

namespace {

Judgement listed(const Matrix& matrix) {
    auto judgement = judge(matrix, Facts::embedded(), {std::string(kToday)});
    REQUIRE(judgement);
    return *std::move(judgement);
}

Judgement unlisted(const Matrix& matrix, std::string_view today = kToday) {
    auto judgement = judge(matrix, Facts::embedded(), {std::string(today), 10'000'000, false});
    REQUIRE(judgement);
    return *std::move(judgement);
}

std::string axis(const std::string& name, int count, const std::string& prefix, const std::string& suffix) {
    std::string out = "  " + name + ": [";
    for (int i = 0; i < count; ++i)
        out += fmt::format("{}\"{}{}{}\"", i == 0 ? "" : ", ", prefix, i, suffix);
    return out + "]\n";
}

}  // namespace

TEST_CASE("a rule cannot see a field that it does not declare") {
    const Value driver{"550.54.15", {}, {}}, gpu{"T4", {}, {}}, other{"V100", {}, {}};
    Cell cell;
    cell.set(Field::driver, &driver);
    cell.set(Field::gpu, &gpu);
    const ProjectedCell seen(cell, {Field::driver});
    CHECK(seen.text(Field::driver) == "550.54.15");
    CHECK(seen.has(Field::driver));
    CHECK_FALSE(seen.has(Field::gpu));
    CHECK(seen.text(Field::gpu).empty());
    CHECK(seen.value(Field::gpu) == nullptr);
    CHECK_FALSE(seen.with(Field::gpu, &other).has(Field::gpu));
    CHECK(seen.with(Field::driver, &other).text(Field::driver) == "V100");
}

TEST_CASE("a GPU that implies the arch moves no finding that is about something else") {
    for (const char* gpu : {"GH200", "H100"}) {
        CAPTURE(gpu);
        const auto judgement = listed(read("version: 1\nset:\n  gpu: " + std::string(gpu) +
                                           "\n  driver: \"470.161.03\"\n  cuda: \"12.4.1\"\n"));
        std::size_t found = 0;
        for (const auto& group : judgement.findings) {
            if (group.finding.rule != "driver-supports-cuda") continue;
            ++found;
            CHECK(group.finding.primary != Field::gpu);
            CHECK(group.where.line > 3);
        }
        CHECK(found == 1);
    }
}

TEST_CASE("rules: unique ids, and every need is declared as read") {
    std::set<std::string_view> ids;
    for (const auto& rule : all_rules()) {
        CAPTURE(std::string(rule.id));
        CHECK(ids.insert(rule.id).second);
        CHECK(rule_named(rule.id) == &rule);
        CHECK(!rule.summary.empty());
        CHECK(!rule.reads.empty());
        for (const auto need : rule.needs) {
            CHECK(!need.empty());
            for (const auto& field : all_fields()) {
                if (need.contains(field.field)) CHECK(rule.reads.contains(field.field));
            }
        }
    }
    CHECK(ids.size() == all_rules().size());
    CHECK(rule_named("no-such-rule") == nullptr);
    CHECK(need_text(*rule_named("driver-supports-gpu"), {Field::gpu, Field::compute}) ==
          "driver-supports-gpu: gpu or compute");
}

TEST_CASE("answers do not depend on fields that a rule does not read") {
    // Every rule on a cell with all the fields, and on one with only those that it declares: the same
    // findings.
    const Words all{{Field::driver, "470.161.03"}, {Field::gpu, "RTX 5090"},
                    {Field::cuda, "12.4.1"},       {Field::torch, "2.5.0+cu124"},
                    {Field::python, "3.8"},        {Field::os, "debian11"},
                    {Field::arch, "x86_64"},       {Field::family, "debian"},
                    {Field::compiler, "gcc-14"},   {Field::kernel_module, "proprietary"},
                    {Field::platform, "gcp"},      {Field::glibc, "2.31"}};
    for (const auto& rule : all_rules()) {
        Words few;
        for (const auto& word : all) {
            if (rule.reads.contains(word.first)) few.push_back(word);
        }
        const auto a = ask(rule.id, all);
        const auto b = ask(rule.id, few);
        REQUIRE(a.size() == b.size());
        for (std::size_t i = 0; i < a.size(); ++i)
            CHECK(finding_line(a[i]) == finding_line(b[i]));
    }
}

TEST_CASE("one finding for all the cells that share it") {
    const auto matrix = read(
        "version: 1\naxes:\n  driver: [\"470.161.03\", \"550.54.15\"]\n  gpu: [T4, A100, V100]\n  cuda: "
        "[\"12.4.1\"]\n");
    const auto judgement = listed(matrix);
    CHECK(judgement.cells.size() == 6);
    REQUIRE(judgement.findings.size() == 3);  // two ends of life, one driver too old
    const auto& group = judgement.findings[1];
    CHECK(group.finding.rule == "driver-supports-cuda");
    CHECK(group.cells == 3);
    CHECK(group.first_cell == "drv470.161.03-t4-cu12.4.1");
    CHECK(group.where.line == 3);
    CHECK(group.where.column == 12);
    CHECK(judgement.count(Verdict::rejected) == 3);
    CHECK(judgement.count(Verdict::accepted) == 3);
    const auto& first = judgement.cells[0];
    CHECK(first.verdict == Verdict::rejected);
    CHECK(first.stages[static_cast<std::size_t>(Stage::runtime)] == Verdict::rejected);
    CHECK(first.stages[static_cast<std::size_t>(Stage::driver_load)] == Verdict::accepted);
    CHECK(first.stages[static_cast<std::size_t>(Stage::install)] == Verdict::accepted);
    CHECK(std::find(first.not_checked.begin(), first.not_checked.end(), "torch-ships-compute: torch") !=
          first.not_checked.end());
}

TEST_CASE("stages: what does not decide degrades") {
    const std::string axes = "version: 1\nset: {driver: \"470.161.03\", cuda: \"12.4.1\"}\n";
    CHECK(listed(read(axes)).cells[0].verdict == Verdict::rejected);
    const auto other = listed(read(axes + "stages: [install, build]\n"));
    CHECK(other.cells[0].verdict == Verdict::degraded);
    CHECK(other.cells[0].stages[static_cast<std::size_t>(Stage::runtime)] == Verdict::rejected);
    CHECK(other.findings.size() == 2);
}

TEST_CASE("shared answers equal those of each cell judged alone") {
    const auto matrix = read(
        "version: 1\naxes:\n  driver: [\"470.161.03\", \"535.183.01\", \"580\", \"590.48.01\"]\n  gpu: [T4, "
        "V100, \"RTX 5090\"]\n"
        "  cuda: [\"11.8.0\", \"12.4.1\", \"13.0.2\"]\n  torch: [\"2.0.1+cu118\", \"2.6.0+cu124\", "
        "\"2.11.0\"]\n  python: [\"3.8\", \"3.12\"]\n"
        "zip: [[cuda, torch]]\nexclude: [{driver: \"580\", gpu: V100}]\ninclude: [{driver: \"570\", gpu: "
        "H100, cuda: \"12.8.1\"}]\n");
    const auto judgement = listed(matrix);
    CHECK(judgement.cells.size() == 4 * 3 * 3 * 2 - 6 + 1);
    for (const auto& cell : judgement.cells) {
        auto verdict = Verdict::accepted;
        std::size_t count = 0;
        for (const auto& rule : all_rules()) {
            if (!applies(rule, cell.cell)) continue;
            for (const auto& finding : evaluate(rule, cell.cell, Facts::embedded(), kToday)) {
                REQUIRE(count < cell.findings.size());
                const auto& shared = judgement.findings[cell.findings[count++]].finding;
                CHECK(finding_line(shared) == finding_line(finding));
                verdict =
                    std::max(verdict, DecidingStages().weigh(finding.stage, finding.verdict(), cell.cell));
            }
        }
        CHECK(count == cell.findings.size());
        CHECK(verdict == cell.verdict);
    }
}

TEST_CASE("an exclude is offered only where it takes nothing else with it") {
    const auto both =
        listed(read("version: 1\naxes:\n  torch: [\"1.12.1\", \"1.12.1+cu116\"]\nset: {gpu: A100}\n"));
    REQUIRE(both.findings.size() == 1);
    CHECK(both.findings[0].finding.fix_text().find("exclude") == std::string::npos);
    const auto one =
        listed(read("version: 1\naxes:\n  torch: [\"1.12.1\", \"1.13.1+cu116\"]\nset: {gpu: A100}\n"));
    REQUIRE(one.findings.size() == 1);
    CHECK(one.findings[0].finding.fix_text().ends_with("or exclude: {torch: \"1.12.1\"}"));
    // No condition spells a map.
    const auto map =
        listed(read("version: 1\naxes:\n  packages: [{xformers: 0.0.28}, {xformers: 0.0.35}]\nset: {torch: "
                    "2.6.0}\n"));
    REQUIRE_FALSE(map.findings.empty());
    for (const auto& group : map.findings)
        CHECK(group.finding.fix_text().find("exclude") == std::string::npos);
}

TEST_CASE("more cells than the limit are refused with their number") {
    const auto matrix =
        read("version: 1\naxes:\n" + axis("driver", 20, "550.", ".1") + axis("glibc", 20, "2.", ""));
    const auto refused = judge(matrix, Facts::embedded(), {std::string(kToday), 399});
    REQUIRE_FALSE(refused);
    CHECK(refused.failure().code == ExitCode::bad_input);
    CHECK(refused.failure().diagnostics[0].message ==
          "matrix.yaml: the matrix has 400 cells: at most 399 are judged one by one");
    CHECK(judge(matrix, Facts::embedded(), {std::string(kToday), 400}));
}

TEST_CASE("a hundred thousand cells: every one is judged, and the counts alone are the same") {
    const auto matrix =
        read("version: 1\naxes:\n" + axis("driver", 50, "550.", ".1") +
             "  gpu: [T4, V100, A100, \"RTX 4090\", \"RTX 5090\", H100, K80, P100, L4, B200]\n"
             "  cuda: [\"10.2\", \"11.2.2\", \"11.8.0\", \"12.1.1\", \"12.4.1\", \"12.6\", \"12.8.1\", "
             "\"12.9.1\", \"13.0.2\", \"13.2.1\"]\n"
             "  torch: [\"1.12.1+cu118\", \"2.0.1\", \"2.5.0+cu124\", \"2.8.0\", \"2.11.0\"]\n  python: "
             "[\"3.8\", \"3.10\", \"3.12\", \"3.13\"]\n");
    const auto start = std::chrono::steady_clock::now();
    const auto judgement = listed(matrix);
    const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    CHECK(judgement.cells.size() == 100'000);
    const auto again = std::chrono::steady_clock::now();
    const auto counts = unlisted(matrix);
    const auto counting = std::chrono::duration<double>(std::chrono::steady_clock::now() - again).count();
    CHECK(counts.verdicts == judgement.verdicts);
    CHECK(counts.cells.empty());
    // What it takes is told, not asserted: 2 s is the goal of a release build.
    MESSAGE(fmt::format("{} cells, {} findings, {:.2f} s; counted in {:.2f} s", judgement.cells.size(),
                        judgement.findings.size(), seconds, counting));
}

TEST_CASE("words of stages, verdicts and severities") {
    CHECK(to_string(Stage::driver_load) == "driver_load");
    CHECK(to_string(Stage::torch_compile) == "torch_compile");
    CHECK(to_string(Verdict::degraded) == "degraded");
    Finding finding;
    finding.severity = Severity::note;
    CHECK(finding.verdict() == Verdict::accepted);
    CHECK(finding.fix_text().empty());
}
