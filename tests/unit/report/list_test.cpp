#include "report/matrix_reports.hpp"

#include <doctest/doctest.h>

#include "base/json.hpp"
#include "base/text.hpp"
#include "report/formats.hpp"
#include "unit/report/fixtures.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;
using fixtures::golden;
using fixtures::Judged;

TEST_CASE("list text: verdict, id, fields") {
    Judged data;
    CHECK(list_text(data.report()) ==
          "rejected  drv470.161.03-py3.12\n"
          "          driver: 470.161.03; python: 3.12\n"
          "degraded  drv550.54.15-py3.9\n"
          "          driver: 550.54.15; python: 3.9\n"
          "accepted  drv550.54.15-py3.12\n"
          "          driver: 550.54.15; python: 3.12; packages: timm=0.6.13; uses: THC,\n"
          "          ptx-only\n"
          "\n"
          "training: 3 cells: 1 accepted, 1 degraded, 1 rejected\n");
}

TEST_CASE("list text: an id is never cut, colour only where it is asked for") {
    Judged data;
    data.judgement = {};
    const std::string id(100, 'a');
    data.add(id, {}, Verdict::unknown);
    CHECK(list_text(data.report()) == "unknown   " + id + "\n\ntraining: 1 cell: 1 unknown\n");
    CHECK(list_text(data.report(80, true)) ==
          "\x1b[35munknown\x1b[0m   " + id + "\n\ntraining: 1 cell: 1 unknown\n");
}

TEST_CASE("list json: the whole document") {
    Judged data;
    CHECK(list_json(data.report()) == golden("list.json"));
}

TEST_CASE("list json: one name is a list of one, versions stay text") {
    Judged data;
    data.judgement = {};
    data.add("one",
             {{Field::cuda, {"12.10", {}, {}}}, {Field::uses, {"THC", {}, {}}}, {Field::env, {"", {}, {}}}},
             Verdict::accepted);
    const auto json = parse_json(list_json(data.report()), "report");
    REQUIRE(json.ok());
    CHECK(json->at("cells").at(0).at("fields") ==
          Json{{"cuda", "12.10"}, {"env", Json::object()}, {"uses", Json::array({"THC"})}});
}

TEST_CASE("github matrix: the accepted and degraded cells on one line") {
    Judged data;
    const auto line = list_github_matrix(data.report());
    REQUIRE(line.ok());
    CHECK(
        line.value() ==
        R"({"include":[{"id":"drv550.54.15-py3.9","verdict":"degraded","driver":"550.54.15","python":"3.9"},)"
        R"({"id":"drv550.54.15-py3.12","verdict":"accepted","driver":"550.54.15","python":"3.12",)"
        R"("packages":{"timm":"0.6.13"},"uses":["THC","ptx-only"]}]})"
        "\n");
}

TEST_CASE("github matrix: nothing to run is an empty list") {
    Judged data;
    data.judgement = {};
    data.add("bad", {}, Verdict::rejected);
    data.add("open", {}, Verdict::unknown);
    const auto line = list_github_matrix(data.report());
    REQUIRE(line.ok());
    CHECK(line.value() == "{\"include\":[]}\n");
}

TEST_CASE("github matrix: 256 jobs are taken, 257 are refused with their number") {
    Judged data;
    data.judgement = {};
    for (int i = 0; i < 256; ++i)
        data.add(fmt::format("cell{}", i), {}, i % 2 == 0 ? Verdict::accepted : Verdict::degraded);
    data.add("rejected", {}, Verdict::rejected);
    const auto most = list_github_matrix(data.report());
    REQUIRE(most.ok());
    CHECK(parse_json(most.value(), "line")->at("include").size() == 256);

    data.add("one too many", {}, Verdict::accepted);
    const auto refused = list_github_matrix(data.report());
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.failure().code == ExitCode::bad_input);
    REQUIRE(refused.failure().diagnostics.size() == 1);
    CHECK(render(refused.failure().diagnostics[0], "") ==
          "matrix.yaml: error: 257 cells are accepted or degraded, and GitHub runs at most 256 jobs of one "
          "matrix\n"
          "  fix: exclude cells, or split the matrix file and give each part a job\n");
}

TEST_CASE("list: whatever the texts, every format stays what it is") {
    for (const auto& hostile : fixtures::hostile_texts()) {
        Judged data;
        data.matrix.name = hostile;
        Value value{hostile, {}, {}};
        Value map{hostile, {}, {{hostile, hostile}}};
        data.add(hostile, {{Field::gpu, value}, {Field::env, map}, {Field::uses, map}}, Verdict::accepted);
        const auto report = data.report();
        const auto text = list_text(report);
        CHECK(fixtures::terminal_safe(text));
        CHECK(text::split(text, '\n').size() < 40);
        CHECK(parse_json(list_json(report), "report").ok());
        const auto line = list_github_matrix(report);
        REQUIRE(line.ok());
        CHECK(line->find('\n') == line->size() - 1);
        CHECK(parse_json(line.value(), "line").ok());
    }
}
