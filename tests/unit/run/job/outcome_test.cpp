#include "run/job/job.hpp"

#include <doctest/doctest.h>

#include "run/job/suite_run.hpp"

using namespace cudamatrix;
using namespace cudamatrix::job;

namespace {

RunReport run_report(const std::string& command, std::initializer_list<CellOutcome> outcomes) {
    RunReport one;
    one.command = command;
    for (const auto outcome : outcomes) {
        one.cells.emplace_back();
        one.cells.back().outcome = outcome;
    }
    return one;
}

int code(const RunReport& of, const RunSettings& settings = {}) {
    return static_cast<int>(exit_code_of(of, settings));
}

constexpr auto kSkipped = CellOutcome::skipped;
constexpr auto kPlanned = CellOutcome::planned;
constexpr auto kPassed = CellOutcome::passed;
constexpr auto kStatic = CellOutcome::passed_without_gpu;
constexpr auto kFailed = CellOutcome::failed;
constexpr auto kErrored = CellOutcome::errored;

}  // namespace

TEST_CASE("outcome: the exit code of what was attempted") {
    CHECK(code(run_report("run", {kPassed, kPassed})) == 0);
    CHECK(code(run_report("run", {kPassed, kSkipped})) == 0);
    CHECK(code(run_report("run", {kPassed, kStatic})) == 4);
    CHECK(code(run_report("run", {kStatic})) == 4);
    CHECK(code(run_report("run", {kStatic, kFailed})) == 1);
    CHECK(code(run_report("run", {kPassed, kErrored})) == 1);
    CHECK(code(run_report("render", {kPlanned, kSkipped})) == 0);
    CHECK(code(run_report("build", {kPlanned})) == 0);
    CHECK(code(run_report("test", {kPlanned})) == 1);  // not reached
    CHECK(code(run_report("run", {kPassed, kPlanned})) == 1);
}

TEST_CASE("outcome: nothing attempted is 1, in every command") {
    for (const auto* command : {"render", "build", "test", "run"}) {
        CHECK(code(run_report(command, {})) == 1);
        CHECK(code(run_report(command, {kSkipped, kSkipped})) == 1);
    }
}

TEST_CASE("outcome: a failed image is 1 although no cell says so") {
    auto one = run_report("build", {kPlanned});
    one.images.emplace_back();
    one.images.back().error = "the build failed";
    CHECK(code(one) == 1);
}

TEST_CASE("outcome: --strict counts skipped cells, --require-gpu counts what did not run") {
    RunSettings strict;
    strict.strict = true;
    CHECK(code(run_report("run", {kPassed, kSkipped}), strict) == 1);
    CHECK(code(run_report("run", {kPassed}), strict) == 0);
    CHECK(code(run_report("run", {kStatic}), strict) == 4);
    RunSettings gpu;
    gpu.require_gpu = true;
    CHECK(code(run_report("run", {kPassed, kStatic}), gpu) == 1);
    CHECK(code(run_report("run", {kPassed}), gpu) == 0);
}

TEST_CASE("outcome: an interrupt beats everything") {
    Cancellation cancellation;
    cancellation.request();
    RunSettings settings;
    settings.cancellation = &cancellation;
    CHECK(code(run_report("run", {kFailed}), settings) == 130);
    CHECK(code(run_report("run", {}), settings) == 130);
}

TEST_CASE("outcome: rules and image are compared by the code path of static.fatbin") {
    const auto compared = [](const char* code_path, const char* compute, bool toolkit) {
        Image image;
        if (toolkit) image.compute = {"7.5", "8.0"};
        CellResult cell;
        cell.outcome = CellOutcome::passed_without_gpu;
        cell.proof = Proof::loaded;
        TestResult test;
        test.id = "static.fatbin";
        test.code_path = code_path;
        cell.tests.push_back(test);
        compare_with_rules(image, compute, cell);
        return cell;
    };
    CHECK(compared("sass 7.5", "7.5", true).findings.empty());
    CHECK(compared("sass 8.0 (same major) for 8.6", "8.6", true).findings.empty());  // 8.6 is not in the list
    CHECK(compared("ptx 8.0 via JIT", "9.0", true).findings.empty());
    CHECK(compared("sass 7.0 (same major) for 7.5", "7.5", false).findings.empty());  // torch's own code
    CHECK(compared("sass 7.5", "", true).findings.empty());
    CHECK(compared("", "7.5", true).findings.empty());

    const auto jit = compared("ptx 7.5 via JIT", "7.5", true);
    CHECK(jit.outcome == CellOutcome::failed);
    CHECK(jit.proof == Proof::built);
    CHECK(jit.reason == "rules and image disagree: expected sass 7.5, found ptx 7.5 via JIT");
    const auto none = compared("none: sass 8.0 is of another major", "7.5", false);
    CHECK(none.outcome == CellOutcome::failed);
    REQUIRE(none.findings.size() == 1);
    CHECK(none.findings.front() ==
          "error: the rules expect code that runs on it for compute capability 7.5, the image has: none: "
          "sass 8.0 is of "
          "another major [image-agrees-with-rules, at runtime]");
}
