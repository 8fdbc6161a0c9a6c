#include <doctest/doctest.h>

#include "base/text.hpp"
#include "report/cases.hpp"
#include "unit/report/fixtures.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;

namespace {

CaseReport with(std::vector<Case> cases) {
    return {"cudamatrix m", 1, {{"cell", 1, {}, std::move(cases)}}};
}

Case one(std::string name, CaseKind kind, std::string message = {}) {
    return {"class", std::move(name), 0.5, kind, {}, std::move(message), {}};
}

}  // namespace

TEST_CASE("tap: the whole document") {
    CHECK(tap_text(cases_of(fixtures::run())) == fixtures::golden("run.tap"));
}

TEST_CASE("tap: a point for each case, and one for its suite") {
    CHECK(tap_text(with({one("a", CaseKind::pass), one("b", CaseKind::skip, "no_device")})) ==
          "TAP version 14\n1..1\n# Subtest: cell\n    1..2\n    ok 1 - a\n    ok 2 - b # SKIP no_device\n"
          "ok 1 - cell\n");
    CHECK(tap_text({"m", 0, {}}) == "TAP version 14\n1..0\n");
    CHECK(tap_text(with({})) ==
          "TAP version 14\n1..1\n# Subtest: cell\n    1..0\nok 1 - cell # SKIP nothing was tested\n");
    CHECK(tap_text(with({one("cell", CaseKind::skip, "rejected: too old")})) ==
          "TAP version 14\n1..1\n# Subtest: cell\n    1..1\n    ok 1 - cell # SKIP rejected: too old\n"
          "ok 1 - cell # SKIP rejected: too old\n");
}

TEST_CASE("tap: what is red says why, and its suite is red") {
    auto failed = one("a", CaseKind::fail, "mismatch: \"x\"");
    failed.type = "F6";
    failed.details = "hint: y\n| tail: z\n";
    CHECK(
        tap_text(with({failed, one("b", CaseKind::pass)})) ==
        "TAP version 14\n1..1\n# Subtest: cell\n    1..2\n    not ok 1 - a\n      ---\n      severity: fail\n"
        "      type: \"F6\"\n      message: \"mismatch: \\\"x\\\"\"\n      details: \"hint: y\\n| tail: z\\n\"\n"
        "      ...\n    ok 2 - b\nnot ok 1 - cell\n");
    CHECK(text::split(tap_text(with({one("a", CaseKind::error)})), '\n')[6] == "      severity: error");
}

TEST_CASE("tap: how fast a GPU was stands in the YAML block, of what is red, too") {
    auto measured = one("a", CaseKind::pass);
    measured.metrics = {{"copy", 98.5, "GB/s", 5, 0.0625, "cudaMemcpy", 100, 0.985, 0.97}};
    const std::string metrics =
        R"(      metrics: [{"name":"copy","value":98.5,"unit":"GB/s","n":5,"rsd":0.0625,"roof":"cudaMemcpy",)"
        R"("roof_value":100.0,"ratio":0.985,"goal":0.97}])"
        "\n      ...\n";
    CHECK(tap_text(with({measured, one("b", CaseKind::pass)})) ==
          "TAP version 14\n1..1\n# Subtest: cell\n    1..2\n    ok 1 - a\n      ---\n" + metrics +
              "    ok 2 - b\nok 1 - cell\n");
    measured.kind = CaseKind::fail;
    measured.message = "why";
    CHECK(
        tap_text(with({measured})) ==
        "TAP version 14\n1..1\n# Subtest: cell\n    1..1\n    not ok 1 - a\n      ---\n      severity: fail\n"
        "      message: \"why\"\n" +
            metrics + "not ok 1 - cell\n");
}

TEST_CASE("tap: no text becomes a directive or a line of its own") {
    for (const auto& hostile : fixtures::hostile_texts()) {
        auto failed = one(hostile, CaseKind::fail, hostile);
        failed.type = failed.details = hostile;
        failed.metrics = {{hostile, 1, hostile, 1, 0, hostile, 1, 1, 1}};
        const auto lines = text::split(
            tap_text(with({failed, one(hostile, CaseKind::skip, hostile), one(hostile, CaseKind::pass)})),
            '\n');
        std::size_t points = 0;
        for (const auto& line : lines) {
            if (text::trim(line).starts_with("ok ") || text::trim(line).starts_with("not ok ")) ++points;
        }
        CHECK(points == 4);
        CHECK(lines[4].starts_with("    not ok 1 - "));
    }
    CHECK(tap_text(with({one("a # SKIP b \\ c", CaseKind::pass)})).find("ok 1 - a \\# SKIP b \\\\ c\n") !=
          std::string::npos);
}
