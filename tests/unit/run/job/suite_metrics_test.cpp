#include "run/job/suite_metrics.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "run/job/suite_output.hpp"

using namespace cudamatrix;
using namespace cudamatrix::job;

namespace {

Json copy() {
    return Json{{"name", "copy"}, {"value", 98.5}, {"unit", "GB/s"},       {"n", 5},
                {"median", true}, {"rsd", 0.006},  {"roof", "cudaMemcpy"}, {"roof_value", 100.0},
                {"ratio", 7},     {"goal", 0.97},  {"gate", "warn"}};
}

Json of(Json metrics) {
    return Json{{"id", "mem.copy"}, {"metrics", std::move(metrics)}};
}

Json changed(const char* name, Json value) {
    Json metric = copy();
    metric[name] = std::move(value);
    return of(Json::array({metric}));
}

Json without(const char* name) {
    Json metric = copy();
    metric.erase(name);
    return of(Json::array({metric}));
}

// The problems of a suite whose one test is green and says these metrics.
SuiteOutput output_of(const char* part, const Json& metrics) {
    const Json head{{"v", 1}, {"run", "r"}, {"cell", "c"}};
    Json plan = head, result = head, totals = head;
    plan["plan"] = {"mem.copy"};
    plan["parts"] = {{"mem.copy", {part}}};
    result["id"] = "mem.copy";
    result["part"] = part;
    result["status"] = "pass";
    result["checks"] = Json::array({Json{{"name", "exact"}, {"ok", true}}});
    result["metrics"] = metrics;
    totals["totals"] = {{"pass", 1}};
    totals["exit"] = 0;
    SuiteReader reader({"r", "c", {}});
    for (const auto* line : {&plan, &result, &totals})
        reader.take(to_text(*line, false));
    return std::move(reader).finish(0);
}

}  // namespace

TEST_CASE("metrics: what is measured is read, and the ratio is worked out here") {
    const auto metrics = metrics_from(of(Json::array({copy()})));
    REQUIRE((metrics && metrics->size() == 1));
    const auto& metric = metrics->front();
    CHECK(metric.name == "copy");
    CHECK(metric.value == 98.5);
    CHECK(metric.unit == "GB/s");
    CHECK(metric.n == 5);
    CHECK(metric.rsd == 0.006);
    CHECK(metric.roof == "cudaMemcpy");
    CHECK(metric.roof_value == 100);
    CHECK(metric.ratio == doctest::Approx(0.985));
    CHECK(metric.goal == 0.97);
}

TEST_CASE("metrics: none, and one without a roof or a goal") {
    CHECK(metrics_from(Json::object())->empty());
    CHECK(metrics_from(of(Json::array()))->empty());
    CHECK(metrics_from(without("goal"))->front().goal == 0);
    Json alone{{"name", "up"}, {"value", 25}, {"unit", "GB/s"}, {"n", 5}, {"rsd", 0}};
    const auto metrics = metrics_from(of(Json::array({alone})));
    REQUIRE((metrics && metrics->size() == 1));
    CHECK(metrics->front().roof.empty());
    CHECK(metrics->front().ratio == 0);
    CHECK(metrics_from(changed("value", 0))->front().ratio == 0);
}

TEST_CASE("metrics: what is no measurement is refused") {
    for (const auto* needed : {"name", "value", "unit", "n", "rsd", "roof_value"}) {
        CAPTURE(needed);
        CHECK_FALSE(metrics_from(without(needed)));
        for (const Json& bad : {Json(nullptr), Json("x y\n"), Json(true), Json::array(), Json::object()})
            CHECK_FALSE(metrics_from(changed(needed, bad)));
    }
    for (const auto* number : {"value", "rsd", "roof_value", "goal"}) {
        CAPTURE(number);
        for (const Json& bad : {Json(-1), Json(1e19), Json("1"), Json(nullptr)})
            CHECK_FALSE(metrics_from(changed(number, bad)));
    }
    for (const Json& bad : {Json(0), Json(-3), Json(2.5), Json("5")})
        CHECK_FALSE(metrics_from(changed("n", bad)));
    CHECK_FALSE(metrics_from(changed("roof_value", 0)));
    for (const auto* bad : {"", "a b", "a\nb", "<x>", "a\x1b[31m", "\xc3\xa9"})
        CHECK_FALSE(metrics_from(changed("name", bad)));
    for (const auto* bad : {"", "\x1b[2J", "a\nb"}) {
        CHECK_FALSE(metrics_from(changed("unit", bad)));
        CHECK_FALSE(metrics_from(changed("roof", bad)));
    }
    CHECK_FALSE(metrics_from(changed("name", std::string(65, 'x'))));
    CHECK_FALSE(metrics_from(changed("unit", std::string(65, 'x'))));
    for (const Json& bad : {Json(1), Json("x"), Json::object(), Json(nullptr), Json::array({1}),
                            Json::array({copy(), Json::object()}), Json::array({Json::array({copy()})})})
        CHECK_FALSE(metrics_from(of(bad)));
    CHECK_FALSE(metrics_from(of(Json(std::vector<Json>(33, copy())))));
    CHECK(metrics_from(of(Json(std::vector<Json>(32, copy())))));
}

TEST_CASE("metrics: a GPU's are kept, and any other part that has some is not believed") {
    const auto good = output_of("gpu", Json::array({copy()}));
    CHECK(good.problems.empty());
    REQUIRE(good.tests.size() == 1);
    CHECK(good.tests.front().metrics.size() == 1);
    for (const auto* part : {"interpreted", "cpu", "load", "static"}) {
        CAPTURE(part);
        const auto bad = output_of(part, Json::array({copy()}));
        REQUIRE(bad.problems.size() == 1);
        CHECK(bad.problems.front() == fmt::format("mem.copy/{} has metrics and ran on no GPU", part));
        CHECK(bad.tests.front().metrics.empty());
        CellResult cell;
        conclude(bad, true, cell);
        CHECK(cell.outcome == CellOutcome::failed);
        CHECK(output_of(part, Json::array()).problems.empty());
    }
    const auto broken = output_of("gpu", Json::array({Json{{"name", "copy"}}}));
    REQUIRE(broken.problems.size() == 1);
    CHECK(broken.problems.front() == "mem.copy/gpu has metrics that cannot be read");
    CHECK(broken.tests.front().metrics.empty());
}
