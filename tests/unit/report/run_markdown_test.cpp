#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/markdown.hpp"
#include "report/run_reports.hpp"
#include "unit/report/fixtures.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;
using fixtures::contains;
using fixtures::times;

namespace {

RunReport with_cells(std::size_t number) {
    auto report = fixtures::run();
    const auto cells = report.cells;
    report.cells.clear();
    for (std::size_t i = 0; i < number; ++i) {
        auto cell = cells[i % cells.size()];
        cell.id = cell.cell = fmt::format("{}-{}", cell.id, i);
        report.cells.push_back(std::move(cell));
    }
    return report;
}

}  // namespace

TEST_CASE("run markdown: the whole document") {
    CHECK(run_markdown(fixtures::run()) == fixtures::golden("run.md"));
}

TEST_CASE("run markdown: a report with nothing in it") {
    RunReport report;
    report.command = "test";
    report.matrix = "empty";
    CHECK(run_markdown(report) ==
          "**test of empty**: nothing: no cell attempted, 0 rejected, 0 unknown\n\n| result | cells |\n| --- "
          "| --- |\n");
}

TEST_CASE("run markdown: what was not chosen is counted and not listed") {
    auto report = fixtures::run();
    report.cells[3].chosen = false;
    const auto text = run_markdown(report);
    CHECK(contains(text, "| not chosen | 1 |\n"));
    CHECK(contains(text, "<summary>1 skipped cell</summary>"));
    CHECK_FALSE(contains(text, "too old"));
}

TEST_CASE("run markdown: many cells are folded, and what is too much for a comment is counted") {
    CHECK(contains(run_markdown(with_cells(66)), "<details><summary>44 cells</summary>\n\n| cell |"));
    const auto text = run_markdown(with_cells(10'000));
    CHECK(text.size() <= markdown::kMarkdownLimit);
    CHECK(text.size() > markdown::kMarkdownLimit / 2);
    CHECK(times(text, "<details>") == times(text, "</details>"));
    const auto at = text.find("\nLeft out, for a comment holds 65536 characters: ");
    REQUIRE(at != std::string::npos);
    // Two of six cells and one image failed; what is there and what is left out are all.
    const auto shown =
        1 + times(text, "1 of 3 tests failed</summary>") + times(text, "its image was not built</summary>");
    CHECK(shown > 100);
    // They leave room for what else there is.
    CHECK(contains(text, "\n| debian13-cu12.4.1 | failed | 1666 | not tested |"));
    CHECK(contains(text, " cells</summary>\n\n| cell |"));
    CHECK(contains(text.substr(at), fmt::format(" {} failures, ", 3334 - shown)));
    CHECK(text.ends_with("skipped cells. The other reports have them.\n"));
}

TEST_CASE("run markdown: however large or hostile, it is a comment, and no text becomes markup") {
    for (const auto& hostile : fixtures::hostile_texts()) {
        auto report = with_cells(200);
        report.matrix = hostile;
        for (auto& image : report.images)
            image.id = image.error = image.log = hostile;
        for (auto& cell : report.cells) {
            cell.reason = cell.image = cell.log = cell.id = hostile;
            for (auto& test : cell.tests)
                test.id = test.part = test.reason = test.fault = test.summary = test.hint = test.evidence =
                    hostile;
        }
        const auto text = run_markdown(report);
        CHECK(text.size() <= markdown::kMarkdownLimit);
        CHECK(fixtures::terminal_safe(text));
        CHECK(times(text, "<details>") == times(text, "</details>"));
        CHECK(times(text, "<pre>") == times(text, "</pre>"));
    }
    auto report = fixtures::run();
    report.matrix = "</details>*a*";
    report.cells[2].id = "</summary><img src=x>@me #1";
    report.cells[2].reason = "`code` [link](x)";
    report.cells[2].log = "a|b";
    auto& test = report.cells[2].tests[1];
    test.summary = "<script>|</script>\n# head";
    test.evidence = "</pre>\n\n</details>\n```\n@me &lt;";
    const auto text = run_markdown(report);
    for (const auto* bad :
         {"</summary><img", "@me", "#1", "<script>", "</pre>\n\n</details>\n```", "&lt;\n", "\n# "})
        CHECK_FALSE(contains(text, bad));
    CHECK(contains(text, "**run of &lt;/details&gt;\\*a\\***"));
    CHECK(contains(
        text,
        "<summary>&lt;/summary&gt;&lt;img src=x&gt;@<!-- -->me #<!-- -->1: `code` [link](x)</summary>"));
    CHECK(contains(text, "| &lt;/summary&gt;&lt;img src=x&gt;@<!-- -->me #<!-- -->1 |"));
    CHECK(contains(text, "log: a\\|b\n"));
    CHECK(contains(text, "<pre>\n&lt;/pre&gt;\n\n&lt;/details&gt;\n```\n@<!-- -->me &amp;lt;\n</pre>"));
}

TEST_CASE(
    "run markdown: many failing tests of a cell are cut with their number, and their output to its end") {
    auto report = fixtures::run();
    auto& tests = report.cells[2].tests;
    auto failing = tests[1];
    failing.evidence = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    tests.assign(12, failing);
    const auto text = run_markdown(report);
    CHECK(contains(text, "\n- and 2 more failing tests\n"));
    CHECK(times(text, "<pre>\n2\n3\n4\n5\n6\n7\n8\n9\n</pre>") == 10);
}
