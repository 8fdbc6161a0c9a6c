#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/json.hpp"
#include "report/run_report.hpp"
#include "unit/report/fixtures.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;

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
    CHECK(json->at("result") == "pass-static");
    CHECK(json->at("exit_code") == 4);
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
                test.evidence = test.road = hostile;
                test.fatbin = {hostile};
            }
        }
        const auto json = parse_json(run_json(report), "report");
        REQUIRE(json.ok());
        CHECK(json->at("cells").size() == 6);
        CHECK(json->at("result") == "fail");
    }
}
