// How fast a GPU is: the arithmetic, what is said of it, and that nobody else is measured.
#include "kernels/support/measure.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/compute/fma.hpp"
#include "kernels/compute/sgemm.hpp"
#include "kernels/memory/copy.hpp"
#include "kernels/memory/pcie_link.hpp"
#include "kernels/memory/triad.hpp"
#include "kernels/registry.hpp"
#include "kernels/runner/verdict.hpp"
#include "kernels/support/record_json.hpp"

using namespace cudamatrix::suite;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Context part(const char* name) {
    Context context;
    context.part = name;
    return context;
}

Record passed() {
    Record record;
    record.check("value", true);
    return judge(record, "r", "good");
}

Metric copy_metric(double value, double roof, double goal = 0.97) {
    Metric metric;
    metric.name = "copy";
    metric.value = value;
    metric.unit = "GB/s";
    metric.n = 5;
    metric.roof = "cudaMemcpy";
    metric.roof_value = roof;
    metric.goal = goal;
    return metric;
}

// What the record says of one metric: "" when there is no evidence.
std::string told(const Metric& metric, double peak = 0) {
    Performance performance;
    performance.add(metric, peak);
    Record record = passed();
    performance.tell(part("gpu"), record);
    CHECK(record.status == Status::pass);
    CHECK(record.first_failed() == nullptr);
    return record.evidence.empty() ? "" : record.evidence.front().second;
}

std::string judged_status(const char* part_name, const std::string& record) {
    ProcessResult result;
    result.exit_code = 0;
    result.record = record;
    return judge_process({find_test("cmp.vadd"), part_name}, {}, result).text_of("status");
}

}  // namespace

TEST_CASE("measure: the median stands in the middle") {
    CHECK(median({}) == 0);
    CHECK(median({7}) == 7);
    CHECK(median({9, 1}) == 5);
    CHECK(median({3, 1, 2}) == 2);
    CHECK(median({100, 1, 1, 1, 1}) == 1);
    CHECK(median({4, 1, 3, 2}) == 2.5);
}

TEST_CASE("measure: the deviation is a sample's, relative to the mean") {
    CHECK(relative_deviation({}) == 0);
    CHECK(relative_deviation({5}) == 0);
    CHECK(relative_deviation({5, 5, 5}) == 0);
    CHECK(relative_deviation({1, 3}) == doctest::Approx(std::sqrt(2.0) / 2));
    CHECK(relative_deviation({90, 100, 110}) == doctest::Approx(0.1));
    CHECK(relative_deviation({0, 0}) == 0);
}

TEST_CASE("measure: rounds are noisy when own work is, or the roof's") {
    const std::vector<double> steady{1, 1.01, 0.99};
    const std::vector<double> wild{1, 1.2, 0.8};
    CHECK_FALSE(is_noisy({steady, steady}));
    CHECK_FALSE(is_noisy({steady, {}}));
    CHECK_FALSE(is_noisy({{}, {}}));
    CHECK(is_noisy({wild, steady}));
    CHECK(is_noisy({steady, wild}));
    CHECK(is_noisy({wild, {}}));
}

TEST_CASE("measure: a batch lasts long enough, and ends") {
    CHECK(runs_of_batch(0.001) == 50);
    CHECK(runs_of_batch(0.0499) == 2);
    CHECK(runs_of_batch(0.05) == 1);
    CHECK(runs_of_batch(3) == 1);
    CHECK(runs_of_batch(1e-9) == kMostRuns);
    CHECK(runs_of_batch(0) == kMostRuns);
    CHECK(runs_of_batch(-1) == kMostRuns);
    CHECK(runs_of_batch(kNan) == kMostRuns);
    CHECK(runs_of_batch(kInfinity) == 1);
}

TEST_CASE("measure: a rate is the work of a run over its median time") {
    const Metric metric =
        rate_metric("triad", "GB/s", {3, 2}, {{0.5, 0.25, 9}, {0.5, 0.5, 0.5}}, "cudaMemcpy", 0.9);
    CHECK(metric.name == "triad");
    CHECK(metric.value == 6);
    CHECK(metric.unit == "GB/s");
    CHECK(metric.n == 3);
    CHECK(metric.rsd > 1);
    CHECK(metric.roof == "cudaMemcpy");
    CHECK(metric.roof_value == 4);
    CHECK(metric.ratio() == 1.5);
    CHECK(metric.goal == 0.9);
    // Without a round of the roof there is none, and no goal.
    const Metric alone = rate_metric("up", "GB/s", {3, 2}, {{0.5}, {}}, "cudaMemcpy", 0.9);
    CHECK(alone.roof == "");
    CHECK(alone.ratio() == 0);
    CHECK(alone.goal == 0);
    CHECK(rate_metric("none", "GB/s", {1, 1}, {}, "x", 1).value == 0);
}

TEST_CASE("measure: a time is in microseconds") {
    const Metric metric = time_metric("launch", {{3e-6, 4e-6, 2e-6}, {12e-6}}, "eager", 0.5);
    CHECK(metric.unit == "us");
    CHECK(metric.value == doctest::Approx(3));
    CHECK(metric.roof_value == doctest::Approx(12));
    CHECK(metric.ratio() == doctest::Approx(0.25));
}

TEST_CASE("measure: peaks are those that NVIDIA states, and unknown where a number is missing") {
    // H100 SXM: 3.35 TB/s and 67 TFLOP/s; T4: 320 GB/s and 8.1 TFLOP/s (NVIDIA's data sheets).
    CHECK(memory_peak(2619000, 5120) == doctest::Approx(3352).epsilon(0.001));
    CHECK(memory_peak(5001000, 256) == doctest::Approx(320).epsilon(0.001));
    CHECK(fp32_peak(9, 0, 132, 1980000) == doctest::Approx(66.9).epsilon(0.001));
    CHECK(fp32_peak(7, 5, 40, 1590000) == doctest::Approx(8.14).epsilon(0.001));
    CHECK(memory_peak(0, 5120) == 0);
    CHECK(memory_peak(2619000, 0) == 0);
    CHECK(memory_peak(-1, -1) == 0);
    CHECK(fp32_peak(9, 0, 0, 1980000) == 0);
    CHECK(fp32_peak(9, 0, 132, 0) == 0);
    CHECK(fp32_peak(9, 9, 132, 1980000) == 0);
    CHECK(fp32_peak(5, 2, 16, 1000000) == 0);
    CHECK(fp32_peak(0, 0, 132, 1980000) == 0);
}

TEST_CASE("measure: a link carries what its lanes do, less their code") {
    CHECK(link_gb_s({32, 16}) == doctest::Approx(63.0).epsilon(0.001));
    CHECK(link_gb_s({16, 16}) == doctest::Approx(31.5).epsilon(0.001));
    CHECK(link_gb_s({8, 8}) == doctest::Approx(7.88).epsilon(0.001));
    CHECK(link_gb_s({5, 16}) == doctest::Approx(8));
    CHECK(link_gb_s({2.5, 1}) == doctest::Approx(0.25));
    CHECK(link_gb_s({0, 16}) == 0);
    CHECK(link_gb_s({16, 0}) == 0);
    CHECK(link_gb_s({-1, 16}) == 0);
}

TEST_CASE("measure: what is below its goal is a warning, and what is not is not") {
    CHECK(told(copy_metric(98, 100)) == "");
    CHECK(told(copy_metric(97, 100)) == "");
    CHECK(told(copy_metric(140, 100)) == "");
    CHECK(told(copy_metric(10, 100, 0)) == "");
    CHECK(told(copy_metric(96, 100)) ==
          R"({"warnings":["copy: 0.96 of cudaMemcpy, the goal is at least 0.97"]})");
    Metric launch = copy_metric(4, 10, 0.5);
    launch.name = "launch";
    launch.unit = "us";
    CHECK(told(launch) == "");
    launch.value = 6;
    CHECK(told(launch) == R"({"warnings":["launch: 0.6 of cudaMemcpy, the goal is at most 0.5"]})");
}

TEST_CASE("measure: a roof far from what the device promises is suspect, and no goal is judged by it") {
    CHECK(told(copy_metric(99, 100), 0) == "");
    CHECK(told(copy_metric(99, 100), 100) == "");
    CHECK(told(copy_metric(99, 100), 200) == "");
    CHECK(
        told(copy_metric(99, 100), 201) ==
        R"({"warnings":["denominator_suspect: cudaMemcpy made 100 GB/s, the device's attributes promise 201"]})");
    CHECK(told(copy_metric(10, 100), 1000).find("goal") == std::string::npos);
    CHECK(told(copy_metric(99, 100), 90).find("denominator_suspect") != std::string::npos);
    CHECK(told(copy_metric(90, 100), 92) ==
          R"({"warnings":["copy: 0.9 of cudaMemcpy, the goal is at least 0.97"]})");
    // A metric without a roof has none to suspect.
    CHECK(told(against(copy_metric(10, 100), "", "link", 0, 0.8), 1000) == "");
}

TEST_CASE("measure: noise is said, and nonsense is no metric") {
    Metric noisy = copy_metric(99, 100);
    noisy.rsd = 0.071;
    CHECK(told(noisy) == R"({"warnings":["copy: noisy, its rounds differ by 7.1 %"]})");
    for (const double value : {0.0, -1.0, kNan, kInfinity}) {
        Performance performance;
        performance.add(copy_metric(value, 100));
        Record record = passed();
        performance.tell(part("gpu"), record);
        CHECK(record.metrics.empty());
        CHECK(record.evidence.front().second == R"({"notes":["copy: nothing was timed"]})");
    }
    for (const double roof : {0.0, -1.0, kNan, kInfinity}) {
        Performance performance;
        performance.add(copy_metric(99, roof), 100);
        Record record = passed();
        performance.tell(part("gpu"), record);
        REQUIRE(record.metrics.size() == 1);
        CHECK(record.metrics.front().roof == "");
        CHECK(record.metrics.front().goal == 0);
        CHECK(record.evidence.front().second == R"({"notes":["copy: cudaMemcpy could not be timed"]})");
    }
    Metric never = copy_metric(99, 100);
    never.n = 0;
    CHECK(told(never).find("nothing was timed") != std::string::npos);
}

TEST_CASE("measure: against a peak that is not known there is no roof") {
    const Metric known = against(copy_metric(80, 100), "_of_peak", "peak", 160, 0.8);
    CHECK(known.name == "copy_of_peak");
    CHECK(known.roof == "peak");
    CHECK(known.ratio() == 0.5);
    CHECK(known.goal == 0.8);
    const Metric unknown = against(copy_metric(80, 100), "", "link", 0, 0.8);
    CHECK(unknown.roof == "");
    CHECK(unknown.ratio() == 0);
    CHECK(unknown.goal == 0);
}

TEST_CASE("measure: only the part of a GPU is measured, and only after its checks") {
    CHECK(may_measure(part("gpu"), passed()));
    for (const char* other : {"interpreted", "cpu", "load", "static", "", "GPU", "gpu "})
        CHECK_FALSE(may_measure(part(other), passed()));
    for (const Record& record :
         {Record::fail("r", "", "s"), Record::skip("no_device", "s"), Record::broken("r", "s"), Record{}})
        CHECK_FALSE(may_measure(part("gpu"), record));
    // What was measured all the same does not come into the record.
    Performance performance;
    performance.add(copy_metric(1, 100));
    performance.note("said");
    for (const char* other : {"interpreted", "cpu"}) {
        Record record = passed();
        performance.tell(part(other), record);
        CHECK(record.metrics.empty());
        CHECK(record.evidence.empty());
    }
    Record failed = Record::fail("r", "", "s");
    performance.tell(part("gpu"), failed);
    CHECK(failed.metrics.empty());
}

TEST_CASE("measure: the parts of the CPU make no metric") {
    for (const Record& record : {sgemm_cpu_part(part("cpu")), copy_cpu_part(part("cpu")),
                                 triad_cpu_part(part("cpu")), fma_cpu_part(part("cpu"))}) {
        CHECK(record.status == Status::pass);
        CHECK(record.metrics.empty());
    }
}

TEST_CASE("measure: metrics in a record's line") {
    Record record = passed();
    record.metrics = {copy_metric(98, 100), against(copy_metric(98, 100), "_alone", "", 0, 0)};
    record.metrics.back().rsd = 0.25;
    record.metrics.push_back(copy_metric(49, 98, 0));
    CHECK(to_json(record, "mem.copy", "gpu").find("metrics")->dump() ==
          R"([{"name":"copy","value":98,"unit":"GB/s","n":5,"median":true,"rsd":0,"roof":"cudaMemcpy",)"
          R"("roof_value":100,"ratio":0.98,"goal":0.97,"gate":"warn"},)"
          R"({"name":"copy_alone","value":98,"unit":"GB/s","n":5,"median":true,"rsd":0.25},)"
          R"({"name":"copy","value":49,"unit":"GB/s","n":5,"median":true,"rsd":0,"roof":"cudaMemcpy",)"
          R"("roof_value":98,"ratio":0.5}])");
}

TEST_CASE("measure: the runner believes no metric of a part that is no GPU's") {
    const auto line = [](const char* part_name, bool with_metric) {
        Record record = passed();
        if (with_metric) record.metrics = {copy_metric(98, 100)};
        return to_json(record, "cmp.vadd", part_name).dump();
    };
    CHECK(judged_status("gpu", line("gpu", true)) == "pass");
    CHECK(judged_status("gpu", line("gpu", false)) == "pass");
    for (const char* other : {"cpu", "interpreted"}) {
        CHECK(judged_status(other, line(other, false)) == "pass");
        CHECK(judged_status(other, line(other, true)) == "error");
        CHECK(judged_status(other, line("gpu", true)) == "error");
    }
}
