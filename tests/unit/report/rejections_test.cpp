#include "report/cases.hpp"
#include "report/run_reports.hpp"

#include <doctest/doctest.h>

#include "base/json.hpp"
#include "base/text.hpp"
#include "report/formats.hpp"
#include "unit/report/fixtures.hpp"
#include "unit/report/xml_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;

namespace {

// One of each outcome.
RejectionReport one_of_each() {
    RejectionReport out;
    out.matrix = "training";
    out.where = "cuda=11.8.0";
    out.engine = "docker";
    out.engine_why = "/usr/bin/docker, client 20.10.24, server 20.10.24";
    out.version = "0.1.0";
    out.facts_date = "2026-11-21";
    out.facts_hash = "0123456789ab";
    out.output = "out/training";
    out.seconds = 61.25;
    out.exit_code = 1;
    Rejection proven;
    proven.rule = "cuda-supports-compute";
    proven.stage = "build";
    proven.predicted = "nvcc of CUDA 11.8.0 cannot compile for compute 10.0: its highest target is 9.0";
    proven.fields = {{"compute", "10.0"}, {"cuda", "11.8.0"}};
    proven.cells = {"drv550.54.15-sm100-cu11.8.0", "drv580.65.06-sm100-cu11.8.0"};
    proven.attempt = "nvcc of CUDA 11.8.0 compiles for sm_100";
    proven.control = "the same file for sm_90";
    proven.outcome = RejectionOutcome::proven;
    proven.seen = "nvcc fatal   : Unsupported gpu architecture 'compute_100'";
    proven.log = "logs/rejected-1.log";
    proven.seconds = 3.5;
    auto refuted = proven;
    refuted.cells.resize(1);
    refuted.outcome = RejectionOutcome::refuted;
    refuted.seen = "";
    refuted.reason = "it works after all: the rule is wrong here";
    refuted.log = "logs/rejected-2.log";
    auto open = refuted;
    open.outcome = RejectionOutcome::inconclusive;
    open.reason = "its control failed too: exit code 1";
    open.seen = proven.seen;
    open.log = "logs/rejected-3.log";
    Rejection left;
    left.rule = "driver-supports-gpu";
    left.stage = "driver_load";
    left.predicted = "driver 390.157 is too old for H100";
    left.fields = {{"driver", "390.157"}, {"gpu", "H100"}};
    left.cells = {"drv390.157-h100"};
    left.reason = "at driver_load it needs the GPU and its kernel driver";
    out.rejections = {left, proven, open, refuted};
    return out;
}

constexpr const char* kText = R"(rejections of training where cuda=11.8.0
engine docker: /usr/bin/docker, client 20.10.24, server 20.10.24

  refuted  cuda-supports-compute [at build]
    error: this works after all, but the rule rejects it
    predicted: nvcc of CUDA 11.8.0 cannot compile for compute 10.0: its highest
    target is 9.0
    attempt: nvcc of CUDA 11.8.0 compiles for sm_100
    control: the same file for sm_90
    cells: drv550.54.15-sm100-cu11.8.0
    log: logs/rejected-2.log
  inconclusive  cuda-supports-compute [at build]
    why: its control failed too: exit code 1
    predicted: nvcc of CUDA 11.8.0 cannot compile for compute 10.0: its highest
    target is 9.0
    attempt: nvcc of CUDA 11.8.0 compiles for sm_100
    seen: nvcc fatal   : Unsupported gpu architecture 'compute_100'
    control: the same file for sm_90
    cells: drv550.54.15-sm100-cu11.8.0
    log: logs/rejected-3.log
  proven  cuda-supports-compute [at build]
    predicted: nvcc of CUDA 11.8.0 cannot compile for compute 10.0: its highest
    target is 9.0
    attempt: nvcc of CUDA 11.8.0 compiles for sm_100
    seen: nvcc fatal   : Unsupported gpu architecture 'compute_100'
    control passed: the same file for sm_90
    cells: 2 cells, first drv550.54.15-sm100-cu11.8.0
    log: logs/rejected-1.log
  not-attempted  driver-supports-gpu [at driver_load]
    why: at driver_load it needs the GPU and its kernel driver
    predicted: driver 390.157 is too old for H100
    cells: drv390.157-h100

4 rejections: 1 proven, 1 refuted, 1 inconclusive, 1 not attempted (61.2 s)
output: out/training
)";

}  // namespace

TEST_CASE("rejections text: what is wrong comes first, and nothing but proofs is called proven") {
    CHECK(rejections_text(one_of_each(), {}) == kText);
    auto coloured = rejections_text(one_of_each(), {true, 80});
    CHECK(coloured.find("\x1b[31mrefuted\x1b[0m") != std::string::npos);
    for (const auto* code : {"\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[35m", "\x1b[0m"})
        coloured = text::replace_all(coloured, code, "");
    CHECK(coloured == kText);
}

TEST_CASE("rejections text: without any rejection it says so") {
    RejectionReport none;
    none.matrix = "good";
    CHECK(rejections_text(none, {}) == "rejections of good\n\nno cell is rejected: nothing to prove\n");
}

TEST_CASE("rejections json: every member, and the counts") {
    const auto json = parse_json(rejections_json(one_of_each()), "report");
    REQUIRE(json.ok());
    CHECK((*json)["exit_code"] == 1);
    CHECK((*json)["where"] == "cuda=11.8.0");
    CHECK(to_text((*json)["outcomes"], false) ==
          R"({"proven":1,"refuted":1,"inconclusive":1,"not-attempted":1})");
    CHECK(
        to_text((*json)["rejections"][1], false) ==
        R"({"rule":"cuda-supports-compute","stage":"build","outcome":"proven","predicted":"nvcc of CUDA 11.8.0 cannot compile for compute 10.0: its highest target is 9.0","fields":{"compute":"10.0","cuda":"11.8.0"},"attempt":"nvcc of CUDA 11.8.0 compiles for sm_100","seen":"nvcc fatal   : Unsupported gpu architecture 'compute_100'","control":"the same file for sm_90","reason":"","seconds":3.5,"log":"logs/rejected-1.log","cells":["drv550.54.15-sm100-cu11.8.0","drv580.65.06-sm100-cu11.8.0"]})");
}

TEST_CASE("rejections junit: proven passes, refuted fails, inconclusive is an error, the rest is skipped") {
    std::string problem;
    const auto root = xml_check::parse(junit_text(cases_of(one_of_each())), problem);
    REQUIRE_MESSAGE(root.has_value(), problem);
    const auto text = junit_text(cases_of(one_of_each()));
    CHECK(text.find("tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\"") != std::string::npos);
    CHECK(text.find("<skipped message=\"at driver_load it needs the GPU and its kernel driver\"/>") !=
          std::string::npos);
    CHECK(text.find("<failure type=\"refuted\"") != std::string::npos);
    CHECK(text.find("<error type=\"inconclusive\"") != std::string::npos);
}

TEST_CASE("rejections: hostile texts stay on a terminal and in XML what they are") {
    for (const auto& hostile : fixtures::hostile_texts()) {
        auto report = one_of_each();
        for (auto& rejection : report.rejections) {
            rejection.seen = rejection.reason = rejection.predicted = hostile;
            rejection.cells = {hostile};
        }
        CHECK(fixtures::terminal_safe(rejections_text(report, {})));
        std::string problem;
        CHECK_MESSAGE(xml_check::parse(junit_text(cases_of(report)), problem).has_value(), problem);
        CHECK(parse_json(rejections_json(report), "report").ok());
    }
}
