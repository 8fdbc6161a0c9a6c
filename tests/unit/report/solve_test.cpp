// The reports of `suggest` and `explain`, whole, from answers written by hand.
#include <doctest/doctest.h>

#include "base/json.hpp"
#include "matrix/matrix_file.hpp"
#include "matrix/value.hpp"
#include "report/matrix_reports.hpp"
#include "unit/report/fixtures.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;

namespace {

Finding too_old() {
    Finding finding;
    finding.severity = Severity::error;
    finding.stage = Stage::runtime;
    finding.rule = "driver-supports-cuda";
    finding.message = "driver 470.161.03 is too old for CUDA 12.4.1";
    finding.facts = {{"cuda-family-12",
                      {"https://example.org/a", "https://example.org/b"},
                      "2026-10-01",
                      Confidence::read},
                     {"driver-r470", {"https://example.org/c"}, "2026-10-02", Confidence::measured}};
    return finding;
}

solve::Stack stack() {
    solve::Stack out;
    out.verdict = Verdict::degraded;
    for (const auto& [field, text] :
         std::vector<std::pair<Field, std::string>>{{Field::driver, "470.161.03"}, {Field::gpu, "T4"}})
        out.fields.emplace_back(field, std::get<Value>(value_from_text(field, text)));
    Finding limit;
    limit.severity = Severity::warning;
    limit.stage = Stage::driver_load;
    limit.rule = "end-of-life";
    limit.message = "driver branch 470 reached its end of life";
    out.limits = {limit};
    out.row = "{driver: \"470.161.03\", gpu: \"T4\"}";
    return out;
}

solve::Suggestion something() {
    solve::Suggestion out;
    out.constraints = {"gpu T4", "driver 470.161.03"};
    out.free = {"torch (124 values)"};
    out.stacks = {stack()};
    return out;
}

solve::Suggestion nothing() {
    solve::Suggestion out;
    out.constraints = {"driver 470.161.03", "torch >=2.8"};
    auto many = too_old().facts;
    many.push_back({"c", {"https://example.org/d"}, "2026-10-02", Confidence::read});
    many.push_back({"d", {"https://example.org/e"}, "2026-10-02", Confidence::read});
    out.clashes = {{{"driver 470.161.03", "torch >=2.8"},
                    {{"driver-supports-cuda", too_old(), 30, many}, {"x", too_old(), 1, {}}}}};
    out.all_clashes = false;
    out.remedies = {{{"driver >= 525.60.13", "python >= 3.9"}, stack()}};
    out.all_remedies = false;
    return out;
}

const std::string kRejected = R"(version: 1
name: small
axes:
  driver: ["470.161.03", "580.65.06"]
  cuda: ["12.4.1"]
exclude:
  - {driver: "580.65.06"}
)";

}  // namespace

TEST_CASE("a suggestion with a stack") {
    const auto suggestion = something();
    CHECK(suggest_text({suggestion, fixtures::kTool, {false, 80}}) == R"(asked: gpu T4, driver 470.161.03
searched: torch (124 values)

1. degraded
   driver: 470.161.03; gpu: T4
     warning: driver branch 470 reached its end of life [end-of-life, at
     driver_load]

As a matrix file, which check judges the same:
version: 1
name: suggested
include:
  - {driver: "470.161.03", gpu: "T4"}
)");
    const auto document = parse_json(suggest_json({suggestion, fixtures::kTool, {}}), "report");
    REQUIRE(document);
    CHECK((*document)["stacks"][0]["fields"]["gpu"] == "T4");
    CHECK((*document)["stacks"][0]["limits"][0]["rule"] == "end-of-life");
    CHECK((*document)["conflicts"].empty());
}

TEST_CASE("a suggestion without one") {
    const auto suggestion = nothing();
    CHECK(suggest_text({suggestion, fixtures::kTool, {false, 80}}) == R"(asked: driver 470.161.03, torch >=2.8

no stack that the facts know meets all of it

conflict: driver 470.161.03 and torch >=2.8
  driver-supports-cuda ends 30 branches of the search, the first: error: driver
  470.161.03 is too old for CUDA 12.4.1 [driver-supports-cuda, at runtime]
    fact cuda-family-12, https://example.org/a and 1 more (as of 2026-10-01)
    fact driver-r470, https://example.org/c (as of 2026-10-02, measured)
    fact c, https://example.org/d (as of 2026-10-02)
    and 1 more fact, listed by --format json
  x ends 1 branch of the search, the first: error: driver 470.161.03 is too old
  for CUDA 12.4.1 [driver-supports-cuda, at runtime]
there may be more conflicts

the least that helps:
  driver >= 525.60.13 and python >= 3.9
    then degraded: {driver: "470.161.03", gpu: "T4"}
  there may be more
)");
    const auto document = parse_json(suggest_json({suggestion, fixtures::kTool, {}}), "report");
    REQUIRE(document);
    CHECK((*document)["conflicts"][0]["reasons"][0]["facts"].size() == 4);
    CHECK((*document)["relaxations"][0]["changes"][1] == "python >= 3.9");
    CHECK((*document)["all_conflicts"] == false);
}

TEST_CASE("an explanation: a rejected cell, one that is left out, one that is not there") {
    const auto read = read_matrix_text(kRejected, "small.yaml");
    REQUIRE(read);
    const auto& matrix = *read;
    Judgement judgement;
    JudgedCell cell;
    for_each_cell(matrix, [&](const Cell& first) {
        cell.cell = first;
        return false;
    });
    cell.id = "drv470.161.03-cu12.4.1";
    cell.verdict = Verdict::rejected;
    cell.stages[static_cast<std::size_t>(Stage::runtime)] = Verdict::rejected;
    cell.findings = {0};
    cell.not_checked = {"driver-supports-gpu: gpu or compute", "torch-supports-python: torch"};
    judgement.cells = {cell};
    judgement.findings = {{too_old(), {"small.yaml", 4, 12, 12}, 1, cell.id}};
    solve::Explanation explanation;
    auto facts = too_old().facts;
    facts.pop_back();
    const rules::Acceptance passed{
        "end-of-life", {}, too_old().stage, {Field::cuda}, "CUDA 12.4.1 is supported", std::move(facts)};
    explanation.cells = {{&judgement.cells.front(),
                          judgement.findings,
                          {passed},
                          {"known-defect"},
                          {{{{{"cuda", "12.4.1", "11.8.0"}}, stack()}}, true}}};
    explanation.left_out = {{"drv580.65.06-cu12.4.1", {{"small.yaml", 7, 5, 1}}}};
    explanation.absent = {"cuda 13 does not occur in small.yaml"};
    explanation.more_cells = 2;
    CHECK(explain_text({matrix, judgement, explanation, fixtures::kTool, {false, 80}}) ==
          R"(drv470.161.03-cu12.4.1: rejected
  driver: 470.161.03; cuda: 12.4.1
runtime: driver 470.161.03 is too old for CUDA 12.4.1 [driver-supports-cuda]
  fact cuda-family-12, https://example.org/a and 1 more (as of 2026-10-01)
  fact driver-r470, https://example.org/c (as of 2026-10-02, measured)
nearest cell that works:
  cuda 11.8.0 instead of 12.4.1: degraded
    - {driver: "470.161.03", gpu: "T4"}
passed: 1; not checked for want of a field: 2 (-v lists all)

drv580.65.06-cu12.4.1: left out
small.yaml:7:5: note: this exclude leaves it out
  7 |   - {driver: "580.65.06"}
    |     ^

not in the matrix: cuda 13 does not occur in small.yaml

and 2 more cells (--limit)
)");
    TextOptions verbose{false, 80};
    verbose.verbose = true;
    CHECK(explain_text({matrix, judgement, explanation, fixtures::kTool, verbose}) ==
          R"(drv470.161.03-cu12.4.1: rejected
  driver: 470.161.03; cuda: 12.4.1
stages:
  driver_load     accepted
  image_pull      accepted
  container_start accepted
  install         accepted
  build           accepted
  runtime         rejected
  torch_compile   accepted
findings:
small.yaml:4:12: error: driver 470.161.03 is too old for CUDA 12.4.1 [driver-supports-cuda, at runtime]
  4 |   driver: ["470.161.03", "580.65.06"]
    |            ^~~~~~~~~~~~
  note: 1 cell, first drv470.161.03-cu12.4.1
  note: fact cuda-family-12, https://example.org/a and 1 more (as of 2026-10-01)
  note: fact driver-r470, https://example.org/c (as of 2026-10-02, measured)
passed:
  CUDA 12.4.1 is supported [end-of-life, at runtime]
    fact cuda-family-12, https://example.org/a and 1 more (as of 2026-10-01)
asked, with nothing to say:
  known-defect
not checked, for want of a field:
  driver-supports-gpu: gpu or compute; torch-supports-python: torch
nearest cells that work:
  cuda 11.8.0 instead of 12.4.1: degraded
    - {driver: "470.161.03", gpu: "T4"}

drv580.65.06-cu12.4.1: left out
small.yaml:7:5: note: this exclude leaves it out
  7 |   - {driver: "580.65.06"}
    |     ^

not in the matrix: cuda 13 does not occur in small.yaml

and 2 more cells (--limit)
)");
    const auto document =
        parse_json(explain_json({matrix, judgement, explanation, fixtures::kTool, {}}), "report");
    REQUIRE(document);
    const auto& shown = (*document)["cells"][0];
    CHECK(shown["stages"]["runtime"] == "rejected");
    CHECK(shown["findings"][0]["facts"][0]["id"] == "cuda-family-12");
    CHECK(shown["nearest"][0]["changes"][0]["to"] == "11.8.0");
    CHECK((*document)["left_out"][0]["excludes"][0]["line"] == 7);
    CHECK((*document)["more_cells"] == 2);
}
