#include "report/knowledge_reports.hpp"

#include <doctest/doctest.h>

#include "base/json.hpp"
#include "report/formats.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;

namespace {

measure::Refreshed refreshed() {
    measure::Refreshed found;
    found.places = 1;
    found.changes.push_back({measure::Change::Kind::yanked, "torch (cu130)", "2.9.0", "broken \x1b[31m"});
    found.not_reached.push_back({"torchvision", "no answer"});
    found.bytes = 2048;
    found.requests = 1;
    return found;
}

}  // namespace

TEST_CASE("measure: what could not be measured, and the counts") {
    measure::Measured measured;
    measured.not_measured = {"torch-2.9.0.whl: gone"};
    measured.other_libraries = {"libother.so"};
    measured.left_out = {"torch-x: unknown CUDA"};
    measured.requests = 2;
    CHECK(measured_text({measured, Facts::embedded(), "rows"}) ==
          "not measured: torch-2.9.0.whl: gone\n"
          "no row of torch_libraries says what these are for, none was written: libother.so\n"
          "left out: torch-x: unknown CUDA\n"
          "0 rows: 0 new, 0 filled, 0 confirmed, 0 contradicted, 1 not measured\n"
          "0 B over the network in 2 requests, 0 wheels known from before\n"
          "rows: rows (cudamatrix check matrix.yaml --facts rows)\n");
}

TEST_CASE("refresh: a line for each change and each place that did not answer") {
    const auto found = refreshed();
    const auto text = refreshed_text({found, Facts::embedded(), "rows"});
    CHECK(text.starts_with("! torch (cu130) 2.9.0: "));
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find("not reached: torchvision: no answer\n") != std::string::npos);
    CHECK(text.find("1 change, 0 rows measured; 1 of 2 reached") != std::string::npos);
}

TEST_CASE("measure and refresh: every format takes a report of nothing") {
    const measure::Measured measured;
    const auto found = refreshed();
    for (const auto& format : measure_formats()) {
        CAPTURE(format.name);
        const auto rows = format.write({measured, Facts::embedded(), "rows"});
        const auto changes = format.write_refresh({found, Facts::embedded(), "rows"});
        CHECK(rows.ends_with("\n"));
        if (format.name != "json") continue;
        CHECK((*parse_json(rows, "report"))["rows"] == Json::array());
        CHECK((*parse_json(changes, "report"))["not_reached"][0]["what"] == "torchvision");
    }
}
