#include "report/against_lock.hpp"

#include <doctest/doctest.h>

#include "base/json.hpp"
#include "unit/report/fixtures.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;
using fixtures::Judged;

namespace {

Lock recorded(const Judged& data) {
    Lock lock;
    lock.facts = "abc";
    lock.verdicts = diff::verdicts_to_record(data.matrix, data.judgement);
    return lock;
}

std::string refused(const Judged& data, const Lock& lock) {
    const auto result = compare_verdicts(data.report(), lock, "x.lock");
    REQUIRE_FALSE(result.ok());
    CHECK(result.failure().code == ExitCode::bad_input);
    CHECK(result.failure().diagnostics.front().fix == "cudamatrix lock matrix.yaml");
    return result.failure().diagnostics.front().message;
}

}  // namespace

TEST_CASE("against the lock: rejected cells that were rejected are no news") {
    Judged data;
    const auto lock = recorded(data);
    CHECK(lock.verdicts->at("drv470.161.03-py3.12") == RecordedVerdict{"rejected", {"driver-supports-cuda"}});
    CHECK(lock.verdicts->at("drv550.54.15-py3.12") == RecordedVerdict{"accepted", {}});
    const auto judged = data.report();
    const auto report = compare_verdicts(judged, lock, "x.lock");
    REQUIRE(report.ok());
    CHECK(against_lock_text(*report) == "training: 3 verdicts as in x.lock, 0 moved, 0 new, 0 gone\n");
}

TEST_CASE("against the lock: what moved says why; new, gone and renamed cells do not count") {
    Judged data;
    auto lock = recorded(data);
    (*lock.verdicts)["drv470.161.03-py3.12"] = {"accepted", {}};
    (*lock.verdicts)["drv550.54.15-py3.12"] = {"unknown", {"a-rule"}};
    lock.verdicts->erase("drv550.54.15-py3.9");
    (*lock.verdicts)["renamed"] = {"rejected", {"a-rule"}};
    const auto judged = data.report();
    const auto report = compare_verdicts(judged, lock, "x.lock");
    REQUIRE(report.ok());
    REQUIRE(report->cells.moved.size() == 2);
    CHECK(report->cells.moved[0].worse);
    CHECK_FALSE(report->cells.moved[1].worse);
    const auto text = against_lock_text(*report);
    CHECK(text.find("worse: drv470.161.03-py3.12: accepted -> rejected (driver-supports-cuda)\n  error: ") ==
          0);
    CHECK(text.find("better: drv550.54.15-py3.12: unknown (a-rule) -> accepted\nnew: drv550.54.15-py3.9\n"
                    "gone: renamed\naccept them: cudamatrix lock matrix.yaml\n") != std::string::npos);
    CHECK(text.ends_with("training: 0 verdicts as in x.lock, 2 moved, 1 new, 1 gone\n"));
    const auto json = parse_json(against_lock_json(*report), "report");
    REQUIRE(json.ok());
    CHECK((*json)["moved"][0]["change"] == "worse");
    CHECK((*json)["gone"][0] == "renamed");
}

TEST_CASE("against the lock: other rules with the same verdict move nothing") {
    Judged data;
    auto lock = recorded(data);
    (*lock.verdicts)["drv470.161.03-py3.12"].rules = {"another"};
    const auto judged = data.report();
    const auto report = compare_verdicts(judged, lock, "x.lock");
    REQUIRE(report.ok());
    CHECK(report->cells.moved.empty());
}

TEST_CASE("against the lock: where nothing can be compared, nothing is green") {
    Judged data;
    Lock lock;
    CHECK(refused(data, lock) == "x.lock records no verdicts");
    const std::string none = "x.lock knows none of the cells of this matrix: nothing can be compared";
    lock.verdicts.emplace();
    CHECK(refused(data, lock) == none);
    (*lock.verdicts)["drv550.54.15-py3.12x"] = {"accepted", {}};
    CHECK(refused(data, lock) == none);
}

TEST_CASE("against the lock: an error about images or services is news, whatever the cells say") {
    Judged data;
    const auto lock = recorded(data);
    data.judgement.deployment.push_back(Diagnostic::warning("images: train: little", {"matrix.yaml", 8, 5}));
    const auto calm = compare_verdicts(data.report(), lock, "x.lock");
    REQUIRE(calm.ok());
    CHECK_FALSE(calm->is_news());
    data.judgement.deployment.push_back(
        Diagnostic::error("images: train: timm 0.6.13 needs torch", {"matrix.yaml", 9, 5})
            .with_fix("drop it"));
    const auto judged = data.report();
    const auto report = compare_verdicts(judged, lock, "x.lock");
    REQUIRE(report.ok());
    CHECK(report->is_news());
    CHECK(against_lock_text(*report) ==
          "matrix.yaml:9:5: error: images: train: timm 0.6.13 needs torch\n  fix: drop it\n"
          "training: 3 verdicts as in x.lock, 0 moved, 0 new, 0 gone, 1 error about images or services\n");
    const auto json = parse_json(against_lock_json(*report), "report");
    REQUIRE(json.ok());
    CHECK((*json)["errors"].size() == 1);
    CHECK((*json)["errors"][0]["line"] == 9);
    CHECK((*json)["moved"].empty());
}
