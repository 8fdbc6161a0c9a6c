#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json.hpp"
#include "base/text.hpp"
#include "report/results.hpp"
#include "report/run_reports.hpp"
#include "unit/report/fixtures.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;
using fixtures::contains;
using fixtures::golden;

namespace {

// The result and the paths stay on one line each: they are to be searched and copied.
std::string before_closing(const std::string& text) {
    return text.substr(0, text.find("\nfail: "));
}

RunReport with_outcomes(std::initializer_list<CellOutcome> outcomes, bool gpu) {
    RunReport report;
    report.gpu = gpu;
    for (const auto outcome : outcomes) {
        CellResult cell;
        cell.id = "cell";
        cell.verdict = outcome == CellOutcome::skipped ? "rejected" : "accepted";
        cell.outcome = outcome;
        report.cells.push_back(cell);
    }
    return report;
}

}  // namespace

TEST_CASE("run text: failures, skipped cells, code paths, images") {
    CHECK(run_text(fixtures::run(), {}) == golden("run.txt"));
    CHECK(fixtures::widest_line(before_closing(golden("run.txt"))) <= 80);
}

TEST_CASE("run text: a reason why cells are not rendered is told once, with their number") {
    RunReport report;
    const auto add = [&](const std::string& id, const std::string& verdict, const std::string& reason) {
        CellResult cell;
        cell.id = id;
        cell.verdict = verdict;
        cell.outcome = CellOutcome::skipped;
        cell.reason = reason;
        report.cells.push_back(cell);
    };
    const std::string why = "cannot be rendered: the cell names no cuda";
    for (int i = 0; i < 414; ++i)
        add(fmt::format("a{}", i), "accepted", why);
    add("b", "degraded", why);
    add("c", "accepted", "cannot be rendered: another");
    add("d", "rejected", "torch is too old");
    add("e", "rejected", "torch is too old");
    const auto text = run_text(report, {});
    CHECK(contains(text,
                   "  a0 and 413 more cells\n    accepted: cannot be rendered: the cell names no cuda\n"
                   "  b\n    degraded: cannot be rendered: the cell names no cuda\n"
                   "  c\n    accepted: cannot be rendered: another\n"
                   "  d\n    rejected: torch is too old\n  e\n    rejected: torch is too old\n"));
    CHECK_FALSE(contains(text, "a1"));
}

TEST_CASE("run text: a run without a GPU that went well") {
    CHECK(run_text(fixtures::green_run(), {}) == golden("green.txt"));
}

TEST_CASE("run text: a wide terminal gets one line for each cell") {
    CHECK(run_text(fixtures::green_run(), {false, 160}) == golden("wide.txt"));
}

TEST_CASE("run text: every line but paths fits, however narrow") {
    const auto report = fixtures::run();
    for (const std::size_t width : {0u, 40u, 60u, 79u}) {
        const auto text = run_text(report, {false, width});
        CHECK(fixtures::widest_line(before_closing(text)) <= std::max<std::size_t>(width, 40));
    }
}

TEST_CASE("run text: colour adds nothing but colour") {
    auto text = run_text(fixtures::run(), {true, 80});
    CHECK(contains(text, "\x1b[32m2 passed, 1 needs a GPU\x1b[0m"));
    CHECK(contains(text, "\x1b[31mfail\x1b[0m: 4 cells, 2 images: 2 failed"));
    for (const auto* code : {"\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[35m", "\x1b[0m"})
        text = text::replace_all(text, code, "");
    CHECK(text == golden("run.txt"));
}

TEST_CASE("closing line: never pass without a GPU") {
    using enum CellOutcome;
    CHECK(closing_line(with_outcomes({passed, passed, skipped}, true)) ==
          "pass: 2 cells: passed on a GPU, 1 rejected, 0 unknown");
    CHECK(closing_line(with_outcomes({passed_without_gpu}, false)) ==
          "pass-loaded: 1 cell: loaded without a GPU, 0 rejected, 0 unknown");
    // A line of the suite that claims more than can be is not believed.
    CHECK(closing_line(with_outcomes({passed, passed}, false)) ==
          "pass-loaded: 2 cells: loaded without a GPU, 0 rejected, 0 unknown");
    CHECK(closing_line(with_outcomes({passed, passed_without_gpu, passed_without_gpu}, true)) ==
          "pass-loaded: 3 cells: 1 passed on a GPU, 2 loaded without a GPU, 0 rejected, 0 unknown");
    CHECK(closing_line(with_outcomes({passed_without_gpu}, true)) ==
          "pass-loaded: 1 cell: loaded without a GPU, 0 rejected, 0 unknown");
}

TEST_CASE("closing line: interpreted is no run on a GPU, and no more than the weakest cell counts") {
    using enum CellOutcome;
    auto report = with_outcomes({passed_without_gpu, passed_without_gpu}, false);
    for (auto& cell : report.cells)
        cell.proof = Proof::interpreted;
    CHECK(closing_line(report) == "pass-interpreted: 2 cells: interpreted on the CPU, 0 rejected, 0 unknown");
    report.cells[0].proof = Proof::loaded;
    CHECK(closing_line(report) ==
          "pass-loaded: 2 cells: 1 interpreted on the CPU, 1 loaded without a GPU, 0 rejected, 0 unknown");
    report.cells[0].outcome = passed;
    report.cells[0].proof = Proof::ran;
    CHECK(closing_line(report) ==
          "pass-loaded: 2 cells: 1 interpreted on the CPU, 1 loaded without a GPU, 0 rejected, 0 unknown");
    report.gpu = true;
    CHECK(closing_line(report) ==
          "pass-interpreted: 2 cells: 1 passed on a GPU, 1 interpreted on the CPU, 0 rejected, 0 unknown");
    report.cells[0].outcome = failed;
    CHECK(closing_line(report) == "fail: 2 cells: 1 failed, 1 interpreted on the CPU, 0 rejected, 0 unknown");
}

TEST_CASE("closing line: a good cell that no image can be rendered for is counted") {
    using enum CellOutcome;
    auto report = with_outcomes({planned, skipped, skipped}, false);
    report.cells[1].verdict = "degraded";
    CHECK(closing_line(report) == "rendered: 1 cell in 0 images, 1 rejected, 0 unknown, 1 not rendered");
    CHECK(totals(report).not_rendered == 1);
}

TEST_CASE("closing line: a cell with several images is one cell") {
    using enum CellOutcome;
    auto report = with_outcomes({passed_without_gpu, passed_without_gpu, passed_without_gpu, skipped}, false);
    report.cells[1].again = true;
    for (const std::size_t cell : {0u, 1u, 2u})
        report.cells[cell].image = fmt::format("image-{}", cell);
    CHECK(closing_line(report) ==
          "pass-loaded: 2 cells, 3 images: loaded without a GPU, 1 rejected, 0 unknown");
    report.cells[1].outcome = failed;
    CHECK(closing_line(report) ==
          "fail: 2 cells, 3 images: 1 failed, 2 loaded without a GPU, 1 rejected, 0 unknown");
    CHECK(totals(report).accepted == 2);
    CHECK(totals(report).cells == 3);
    report = with_outcomes({passed, passed_without_gpu}, true);
    report.cells[1].again = true;
    CHECK(closing_line(report) ==
          "pass-loaded: 1 cell: 1 passed on a GPU, 1 loaded without a GPU, 0 rejected, 0 unknown");
}

TEST_CASE("closing line: an image that cells share is counted once") {
    using enum CellOutcome;
    auto report = with_outcomes({passed_without_gpu, passed_without_gpu, passed_without_gpu, skipped}, false);
    for (auto& cell : report.cells)
        cell.image = "shared";
    report.cells[3].image = "of a cell that was not attempted";
    CHECK(totals(report).images == 1);
    CHECK(closing_line(report) ==
          "pass-loaded: 3 cells, 1 image: loaded without a GPU, 1 rejected, 0 unknown");
    report.cells[0].image = "other";
    report.cells[1].image.clear();
    CHECK(totals(report).images == 2);
}

namespace {

CellResult with_tests(CellOutcome outcome, std::initializer_list<std::pair<TestStatus, const char*>> tests) {
    CellResult cell;
    cell.outcome = outcome;
    for (const auto& [status, reason] : tests) {
        TestResult test;
        test.status = status;
        test.reason = reason;
        cell.tests.push_back(test);
    }
    return cell;
}

}  // namespace

TEST_CASE("tests of a cell: what was done, never one word") {
    using enum TestStatus;
    constexpr auto kStatic = CellOutcome::passed_without_gpu;
    CHECK(
        tests_text(with_tests(kStatic, {{pass, ""}, {pass, ""}, {skip, "no_device"}, {skip, "no_device"}})) ==
        "2 passed, 2 need a GPU");
    CHECK(tests_text(with_tests(kStatic, {{pass, ""}, {skip, "no_device"}})) == "1 passed, 1 needs a GPU");
    CHECK(tests_text(with_tests(CellOutcome::passed, {{pass, ""}})) == "1 passed");
    CHECK(tests_text(with_tests(kStatic, {{pass, ""},
                                          {skip, "no_nvcc"},
                                          {skip, "not_in_cell"},
                                          {skip, "cc_too_low"},
                                          {skip, "level"},
                                          {skip, "no_nvcc"}})) == "1 passed, 2 skipped: no nvcc");
    // Failures first, wherever they stand.
    CHECK(
        tests_text(with_tests(CellOutcome::failed, {{skip, "no_device"}, {pass, ""}, {fail, "mismatch"}})) ==
        "1 failed, 1 passed, 1 needs a GPU");
    CHECK(tests_text(with_tests(CellOutcome::failed, {{crash, ""}, {timeout, ""}, {error, ""}})) ==
          "3 failed");
    auto interpreted = with_tests(kStatic, {{pass, ""}, {pass, ""}, {skip, "no_device"}, {fail, "mismatch"}});
    for (const std::size_t test : {1U, 3U})
        interpreted.tests[test].part = "interpreted";
    CHECK(tests_text(interpreted) == "1 failed, 1 passed, 1 interpreted, 1 needs a GPU");
    // A cell that failed for another reason is not told as one that passed.
    CHECK(tests_text(with_tests(CellOutcome::failed, {{pass, ""}, {pass, ""}})) == "failed, 2 passed");
    CHECK(tests_text(with_tests(CellOutcome::errored, {{pass, ""}})) == "errored, 1 passed");
    CHECK(tests_text(with_tests(CellOutcome::errored, {})) == "errored");
    CHECK(tests_text(with_tests(CellOutcome::failed, {})) == "failed");
    for (const auto outcome : {CellOutcome::planned, kStatic, CellOutcome::passed})
        CHECK(tests_text(with_tests(outcome, {})) == "not tested");
}

TEST_CASE("tests of a cell: reasons that are many or long stay short") {
    CellResult cell = with_tests(CellOutcome::passed_without_gpu, {{TestStatus::pass, ""}});
    for (int i = 0; i < 9; ++i) {
        cell.tests.push_back(cell.tests.front());
        cell.tests.back().status = TestStatus::skip;
        cell.tests.back().reason = fmt::format("reason_{}", i);
    }
    CHECK(tests_text(cell) ==
          "1 passed, 1 skipped: reason 0, 1 skipped: reason 1, 1 skipped: reason 2, 1 skipped: reason 3, "
          "5 skipped for other reasons");
    CHECK(count_tests(cell).skipped.size() == 9);
    for (const auto& hostile : fixtures::hostile_texts()) {
        for (auto& test : cell.tests)
            test.reason = hostile;
        CHECK(tests_text(cell).size() < 300);
        CHECK(fixtures::terminal_safe(tests_text(cell)));
    }
}

TEST_CASE("tests of an image: the same test of several cells counts once, by the result that says most") {
    using enum TestStatus;
    constexpr auto kStatic = CellOutcome::passed_without_gpu;
    RunReport report;
    report.images.resize(2);
    report.images[0].id = "one";
    report.images[1].id = "two";
    const auto add = [&](const char* image, CellOutcome outcome, const char* driver,
                         std::initializer_list<std::pair<TestStatus, const char*>> tests) -> CellResult& {
        auto cell = with_tests(outcome, tests);
        cell.image = image;
        cell.fields = {{"driver", driver}};
        for (std::size_t i = 0; i < cell.tests.size(); ++i)
            cell.tests[i].id = fmt::format("group.test{}", i);
        return report.cells.emplace_back(std::move(cell));
    };
    add("one", kStatic, "550", {{pass, ""}, {skip, "no_device"}, {skip, "not_in_cell"}, {skip, "no_nvcc"}});
    add("one", kStatic, "570", {{pass, ""}, {skip, "level"}, {skip, "no_device"}, {skip, "no_nvcc"}});
    auto counts = counts_by_image(report);
    REQUIRE(counts.size() == 2);
    CHECK(counts[0].cells == 2);
    CHECK(tests_text(counts[0]) == "1 passed, 2 need a GPU, 1 skipped: no nvcc");
    CHECK(drivers_text(counts[0].drivers) == "550 and 570 predicted");
    CHECK(counts[1].cells == 0);
    CHECK(tests_text(counts[1]) == "not tested");
    CHECK(drivers_text(counts[1].drivers).empty());

    // A cell with a GPU: what ran there counts, and a failure more than a pass wherever it stands.
    report.gpu = true;
    auto& on_gpu = add("one", CellOutcome::passed, "580", {{pass, ""}, {pass, ""}, {fail, "mismatch"}});
    on_gpu.tests[1].part = on_gpu.tests[2].part = "gpu";
    counts = counts_by_image(report);
    CHECK(tests_text(counts[0]) == "1 failed, 2 passed, 2 need a GPU, 1 skipped: no nvcc");
    for (auto& cell : report.cells)
        cell.tests[1].part = cell.tests[2].part = "gpu";
    counts = counts_by_image(report);
    CHECK(tests_text(counts[0]) == "1 failed, 2 passed, 1 skipped: no nvcc");
    CHECK(drivers_text(counts[0].drivers) == "580 ran, 550 and 570 predicted");
    std::rotate(report.cells.begin(), report.cells.begin() + 2, report.cells.end());
    CHECK(tests_text(counts_by_image(report)[0]) == "1 failed, 2 passed, 1 skipped: no nvcc");

    // A part is a test of its own, another image another test, a skipped cell none.
    add("two", kStatic, "550", {{pass, ""}, {pass, ""}}).tests[1] = report.cells.back().tests[0];
    report.cells.back().tests[1].part = "interpreted";
    CHECK(tests_text(counts_by_image(report)[1]) == "1 passed, 1 interpreted");
    report.cells.back().outcome = CellOutcome::skipped;
    CHECK(tests_text(counts_by_image(report)[1]) == "not tested");
    add("one", kStatic, "590", {{pass, ""}});
    CHECK(drivers_text(counts_by_image(report)[0].drivers) == "580 ran, 3 predicted");
}

TEST_CASE("run json: an image whose build was not run says so") {
    auto report = fixtures::run();
    report.images[1].not_run = true;
    const auto json = parse_json(run_json(report), "report");
    REQUIRE(json.ok());
    CHECK(json->at("images").at(1).at("not_run") == true);
    CHECK_FALSE(json->at("images").at(0).contains("not_run"));
}

TEST_CASE("drivers of a run: those that nothing ran on are predictions") {
    auto report = fixtures::green_run();
    report.cells[1].fields[0].second = "470.161.03";
    CHECK(drivers_of(report).predicted == std::vector<std::string>{"550.54.15", "470.161.03"});
    CHECK(drivers_of(report).run.empty());
    CHECK(
        contains(run_text(report, {}), "\ndrivers 550.54.15, 470.161.03: predicted, not run\npass-loaded: "));
    // A part on a GPU that was not skipped, even one that failed, has met the driver.
    auto& gpu = report.cells[1].tests[2];
    CHECK(gpu.part == "gpu");
    for (const auto status : {TestStatus::pass, TestStatus::fail}) {
        gpu.status = status;
        report.gpu = false;  // what the suite claims without a GPU is not believed
        CHECK(drivers_of(report).run.empty());
        report.gpu = true;
        CHECK(drivers_of(report).run == std::vector<std::string>{"470.161.03"});
        CHECK(drivers_of(report).predicted == std::vector<std::string>{"550.54.15"});
        CHECK(contains(run_text(report, {}), "\ndriver 550.54.15: predicted, not run\n"));
    }
    // The same driver on another GPU that is not here: it was run.
    report.cells[0].fields[0].second = "470.161.03";
    CHECK(drivers_of(report).predicted.empty());
    CHECK_FALSE(contains(run_text(report, {}), "predicted"));
    // Nothing is predicted of what was not tested, nor of a cell that names no driver.
    report = fixtures::green_run();
    for (auto& cell : report.cells)
        cell.outcome = CellOutcome::planned;
    CHECK(drivers_of(report).predicted.empty());
    report = fixtures::green_run();
    for (auto& cell : report.cells)
        cell.fields.clear();
    CHECK(drivers_of(report).predicted.empty());
}

TEST_CASE("run text: why a GPU that is here was not used, once for the cells that share the reason") {
    auto report = fixtures::green_run();
    report.gpu = true;
    report.cells[0].reason = report.cells[1].reason =
        "not run on this machine's GPU: its driver is 580.65.06, the cell's 550.54.15";
    CHECK(
        contains(run_text(report, {}),
                 "\n2 cells: not run on this machine's GPU: its driver is 580.65.06, the cell's\n550.54.15\n"
                 "driver 550.54.15: predicted, not run\npass-loaded: "));
    report.cells[1].reason.clear();
    CHECK(contains(run_text(report, {}), "\n1 cell: not run on this machine's GPU"));
    // Of a cell that failed its reason stands under the failures.
    report.cells[0].outcome = CellOutcome::failed;
    CHECK_FALSE(contains(run_text(report, {}), "1 cell: "));
}

TEST_CASE("closing line: one failure makes the run fail, whatever passed") {
    using enum CellOutcome;
    CHECK(closing_line(with_outcomes({passed, failed, skipped}, true)) ==
          "fail: 2 cells: 1 failed, 1 passed on a GPU, 1 rejected, 0 unknown");
    CHECK(closing_line(with_outcomes({errored, planned}, false)) ==
          "fail: 2 cells: 1 failed, 1 not tested, 0 rejected, 0 unknown");
    auto report = with_outcomes({planned}, false);
    report.images.resize(2);
    report.images[0].error = "no space left";
    CHECK(closing_line(report) == "fail: 1 cell: 1 not tested, 1 image not built, 0 rejected, 0 unknown");
}

TEST_CASE("closing line: what was not tested is not called proved") {
    using enum CellOutcome;
    CHECK(closing_line(with_outcomes({passed, planned, planned}, true)) ==
          "incomplete: 3 cells: 1 passed on a GPU, 2 not tested, 0 rejected, 0 unknown");
    CHECK(closing_line(with_outcomes({skipped, skipped}, true)) ==
          "nothing: no cell attempted, 2 rejected, 0 unknown");
    CHECK(closing_line(with_outcomes({}, true)) == "nothing: no cell attempted, 0 rejected, 0 unknown");
    auto report = with_outcomes({planned, planned}, false);
    report.images.resize(1);
    CHECK(closing_line(report) == "rendered: 2 cells in 1 image, 0 rejected, 0 unknown");
    report.images[0].built = true;
    CHECK(closing_line(report) == "built: 2 cells in 1 image, 0 rejected, 0 unknown");
}

TEST_CASE("run text: many failing tests are cut with their number") {
    auto report = fixtures::run();
    auto& tests = report.cells[2].tests;
    const auto failing = tests[1];
    tests.assign(45, failing);
    const auto text = run_text(report, {});
    CHECK(contains(text, "  and 5 more failing tests: see the JSON or JUnit report\n"));
}

TEST_CASE("run text: of a test's output the last five lines are shown") {
    auto report = fixtures::run();
    report.cells[2].tests[1].evidence = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n\n";
    const auto text = run_text(report, {});
    CHECK(contains(text, "      | three\n      | four\n      | five\n      | six\n      | seven\n    log: "));
    CHECK_FALSE(contains(text, "| two"));
}

TEST_CASE("run text: an image whose base could not be made is no failed build") {
    RunReport report;
    report.command = "build";
    report.matrix = "two";
    report.images.resize(2);
    report.images[0].id = "one";
    report.images[0].error = "the build failed";
    report.images[1].id = "two";
    report.images[1].error = "not run: the base of trixie cannot be bootstrapped";
    report.images[1].not_run = true;
    CHECK(contains(run_text(report, {}), "  one    failed"));
    CHECK(contains(run_text(report, {}), "  two    not run"));
}

TEST_CASE("run text: a report with nothing in it") {
    RunReport report;
    report.command = "test";
    report.matrix = "empty";
    CHECK(run_text(report, {}) == "test of empty\n\nnothing: no cell attempted, 0 rejected, 0 unknown\n");
}

TEST_CASE("run text: whatever the container printed, the terminal is safe") {
    for (const auto& hostile : fixtures::hostile_texts()) {
        auto report = fixtures::run();
        report.matrix = report.engine = report.engine_why = hostile;
        for (auto& image : report.images)
            image.error = image.digest = hostile;
        report.images[0].id = hostile;
        for (auto& cell : report.cells) {
            cell.reason = cell.image = hostile;
            cell.seconds = std::numeric_limits<double>::quiet_NaN();
            for (auto& test : cell.tests) {
                test.id = test.part = test.reason = test.fault = test.summary = test.hint = test.code_path =
                    test.evidence = hostile;
                test.fatbin = {hostile};
            }
        }
        const auto text = run_text(report, {});
        CHECK(fixtures::terminal_safe(text));
        CHECK(fixtures::widest_line(before_closing(text)) <= 80);
        CHECK(text.size() < 20'000);
        CHECK(contains(text,
                       "\nfail: 4 cells, 1 image: 2 failed, 2 loaded without a GPU, 2 images not built, "
                       "1 rejected, 1 unknown\n"));
    }
}

TEST_CASE("run json: the whole document") {
    CHECK(run_json(fixtures::run()) == fixtures::golden("run.json"));
}

TEST_CASE("run json: the SASS of every cell is in it") {
    const auto json = parse_json(run_json(fixtures::green_run()), "report");
    REQUIRE(json.ok());
    for (const std::size_t cell : {0u, 1u}) {
        CHECK(json->at("cells").at(cell).at("tests").at(1).at("fatbin") ==
              Json({"sass 7.5", "sass 8.0", "ptx 8.0@7.8"}));
    }
    CHECK(json->at("result") == "pass-loaded");
    CHECK(json->at("exit_code") == 4);
    CHECK(json->at("cells").at(0).at("counts") == Json({{"failed", 0},
                                                        {"passed", 2},
                                                        {"interpreted", 0},
                                                        {"needs_gpu", 1},
                                                        {"skipped", Json::object()}}));
    auto interpreted = fixtures::green_run();
    interpreted.cells[0].tests[1].part = "interpreted";
    CHECK(parse_json(run_json(interpreted), "report")->at("cells").at(0).at("counts") ==
          Json({{"failed", 0},
                {"passed", 1},
                {"interpreted", 1},
                {"needs_gpu", 1},
                {"skipped", Json::object()}}));
    CHECK(json->at("drivers") == Json({{"run", Json::array()}, {"predicted", {"550.54.15"}}}));
}

TEST_CASE("run json: numbers that JSON does not have become 0") {
    auto report = fixtures::green_run();
    report.seconds = std::numeric_limits<double>::infinity();
    report.cells[0].seconds = -1;
    report.cells[0].tests[0].milliseconds = std::nan("");
    const auto json = parse_json(run_json(report), "report");
    REQUIRE(json.ok());
    CHECK(json->at("seconds") == 0.0);
    CHECK(json->at("cells").at(0).at("seconds") == 0.0);
    CHECK(json->at("cells").at(0).at("tests").at(0).at("milliseconds") == 0.0);
}

TEST_CASE("run json: whatever the container printed, it is one document") {
    for (const auto& hostile : fixtures::hostile_texts()) {
        auto report = fixtures::run();
        report.matrix = report.output = hostile;
        for (auto& cell : report.cells) {
            cell.fields.emplace_back(hostile, hostile);
            cell.findings = {hostile};
            for (auto& test : cell.tests) {
                test.evidence = test.code_path = test.reason = hostile;
                test.status = TestStatus::skip;
                test.fatbin = {hostile};
            }
        }
        const auto json = parse_json(run_json(report), "report");
        REQUIRE(json.ok());
        CHECK(json->at("cells").size() == 6);
        CHECK(json->at("result") == "fail");
    }
}
