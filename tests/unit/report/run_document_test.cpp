// Reports of runs that are read back, and made one.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "base/json.hpp"
#include "base/text.hpp"
#include "report/layout.hpp"
#include "report/run_document.hpp"
#include "report/run_reports.hpp"
#include "unit/report/fixtures.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;
using fixtures::contains;

namespace {

// What the messages say, a line each.
std::string said(const Failure& failure) {
    std::string out;
    for (const auto& diagnostic : failure.diagnostics)
        out += render(diagnostic, {});
    return out;
}

std::string refusal(const std::string& text) {
    const auto read = read_run_json(text, "a.json");
    REQUIRE_FALSE(read.ok());
    CHECK(read.failure().code == ExitCode::bad_input);
    return said(read.failure());
}

Json document(const RunReport& report = fixtures::run()) {
    return parse_json(run_json(report), "report").value();
}

std::string refusal_with(const std::function<void(Json&)>& change) {
    auto json = document();
    change(json);
    return refusal(to_text(json));
}

// Everything that a report can hold.
RunReport rich() {
    auto report = fixtures::run();
    report.gpu = true;
    report.images[1].not_run = true;
    report.images[0].revision = "0123456-dirty";
    report.cells[1].again = true;
    report.cells[1].cell = report.cells[0].cell;
    report.cells[3].chosen = false;
    report.cells[3].last = "passed";
    auto& test = report.cells[0].tests[2];
    test.status = TestStatus::pass;
    test.metrics = {{"copy", 2710.5, "GB/s", 12, 0.01, "cudaMemcpy", 2766, 0.98, 0.97},
                    {"launch", 3.25, "us", 100, 0, {}, 0, 0, 0}};
    return report;
}

RunReport small() {
    auto report = rich();
    report.cells.resize(1);
    report.images.resize(1);
    return report;
}

MergedRun merged(std::vector<ReadRun> runs, const ExitRules& rules = {}) {
    auto result = merge_runs(std::move(runs), rules);
    REQUIRE_MESSAGE(result.ok(), (result.ok() ? "" : said(result.failure())));
    return std::move(result).value();
}

std::string conflict(RunReport first, RunReport second) {
    auto result = merge_runs({{"a.json", std::move(first)}, {"b.json", std::move(second)}}, {});
    REQUIRE_FALSE(result.ok());
    CHECK(result.failure().code == ExitCode::bad_input);
    return said(result.failure());
}

}  // namespace

TEST_CASE("report document: what was written is read, and written again as it was") {
    for (auto report : {fixtures::run(), fixtures::green_run(), rich(), small(), RunReport{}}) {
        if (report.command.empty()) report.command = "render";
        const auto text = run_json(report);
        const auto read = read_run_json(text, "a.json");
        REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : said(read.failure())));
        CHECK(run_json(*read) == text);
        CHECK(run_text(*read, {}) == run_text(report, {}));
    }
}

TEST_CASE("report document: whatever the texts are") {
    for (const auto& hostile : fixtures::hostile_texts()) {
        auto report = rich();
        report.matrix = report.output = report.engine = report.engine_why = hostile;
        report.images[0].error = report.images[0].digest = hostile;
        for (auto& cell : report.cells) {
            cell.reason = hostile;
            cell.fields.emplace_back(hostile, hostile);
            for (auto& test : cell.tests)
                test.id = test.part = test.evidence = test.summary = hostile;
            // Reasons are counted by what a terminal shows of them; the suite's are a closed set.
            if (text::invalid_utf8(hostile)) continue;
            for (auto& test : cell.tests)
                test.reason = hostile;
        }
        const auto text = run_json(report);
        const auto read = read_run_json(text, "a.json");
        REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : said(read.failure())));
        CHECK(run_json(*read) == text);
    }
}

TEST_CASE("report document: cut at any byte it is none") {
    const auto text = run_json(small());
    REQUIRE(text.ends_with("}\n"));
    for (std::size_t size = 0; size + 1 < text.size(); ++size)
        REQUIRE_FALSE(read_run_json(std::string_view(text).substr(0, size), "a.json").ok());
    CHECK(read_run_json(std::string_view(text).substr(0, text.size() - 1), "a.json").ok());
}

namespace {

// `visit` gets every value of `json` with its path, and may change it; it is put back afterwards.
void each_value(Json& json, const std::string& path,
                const std::function<void(Json&, const std::string&)>& visit) {
    const auto before = json;
    visit(json, path);
    json = before;
    if (!json.is_structured()) return;
    for (auto& [name, value] : json.items())
        each_value(value, path + (json.is_array() ? "[]" : "." + name), visit);
}

}  // namespace

TEST_CASE("report document: one of before says nothing of what its images were made of") {
    auto json = document();
    for (auto& image : json["images"]) {
        image.erase("inputs");
        image.erase("proof_inputs");
    }
    const auto read = read_run_json(to_text(json), "a.json");
    REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : said(read.failure())));
    for (const auto& image : read->images) {
        CHECK(image.inputs.empty());
        CHECK(image.proof_inputs.empty());
    }
    CHECK(fixtures::run().images[0].inputs == std::string(64, '1'));
}

TEST_CASE("report document: any value of another kind, any new member and any twin is refused") {
    auto json = document(rich());
    std::size_t planted = 0;
    each_value(json, "$", [&](Json& value, const std::string& path) {
        const Json kinds[] = {nullptr, true, -1, "x", Json::array(), Json::object(), 1.5};
        const auto before = value;
        for (const auto& other : kinds) {
            // A text for a text says something else, and so does a number for a number: see below.
            const bool same_kind = (before.is_string() && other.is_string()) ||
                                   (before.is_number() && other == 1.5) || before == other ||
                                   (before.is_boolean() && other.is_boolean()) ||
                                   (before.is_array() && other == Json::array()) ||
                                   (before.is_object() && other == Json::object());
            if (same_kind) continue;
            value = other;
            ++planted;
            REQUIRE_MESSAGE(!read_run_json(to_text(json), "a.json").ok(), path << " " << to_text(other));
        }
        value = before;
        if (!before.is_object() || path.ends_with(".fields")) return;
        value["planted"] = 1;
        ++planted;
        REQUIRE_MESSAGE(!read_run_json(to_text(json), "a.json").ok(), path << ".planted");
    });
    CHECK(planted > 2000);
    for (const auto* list : {"images", "cells"}) {
        auto twins = document();
        twins[list].push_back(twins[list][0]);
        CHECK_FALSE(read_run_json(to_text(twins), "a.json").ok());
    }
}

TEST_CASE("report document: what follows from other values has to agree with them") {
    // Found out from them, so that a report without them can be read.
    const std::vector<std::string> derived{
        "$.result",           "$.verdicts",       "$.not_rendered",         "$.not_chosen",
        "$.outcomes",         "$.drivers",        "$.images[].cells",       "$.images[].tests",
        "$.images[].drivers", "$.cells[].counts", "$.cells[].image_digest", "$.cells[].image_bytes"};
    auto json = document(rich());
    each_value(json, "$", [&](Json& value, const std::string& path) {
        const bool is_derived = std::ranges::any_of(derived, [&](const std::string& one) {
            return path == one || (path.starts_with(one) && path[one.size()] == '.');
        });
        if (!is_derived && path != "$.matrix.cells") return;
        if (value.is_number()) value = value.get<int>() + 1;
        if (value.is_string()) value = "other";
        if (value.is_array()) value.push_back("other");
        if (value.is_object()) value["other"] = 1;
        REQUIRE_MESSAGE(!read_run_json(to_text(json), "a.json").ok(), path);
    });
}

TEST_CASE("report document: every member that says something of its own is required") {
    const std::vector<std::string> optional{"$.result",
                                            "$.verdicts",
                                            "$.not_rendered",
                                            "$.not_chosen",
                                            "$.outcomes",
                                            "$.drivers",
                                            "$.images[].cells",
                                            "$.images[].tests",
                                            "$.images[].drivers",
                                            "$.images[].not_run",
                                            "$.images[].inputs",
                                            "$.images[].proof_inputs",
                                            "$.cells[].counts",
                                            "$.cells[].image_digest",
                                            "$.cells[].image_bytes",
                                            "$.cells[].fixes",
                                            "$.cells[].chosen",
                                            "$.cells[].last",
                                            "$.cells[].tests[].metrics[].roof",
                                            "$.cells[].tests[].metrics[].goal"};
    auto json = document(rich());
    std::size_t removed = 0;
    each_value(json, "$", [&](Json& value, const std::string& path) {
        if (!value.is_object() || path.ends_with(".fields")) return;
        const auto before = value;
        for (const auto& [name, unused] : before.items()) {
            const auto one = path + "." + name;
            const bool is_optional = std::ranges::any_of(optional, [&](const std::string& each) {
                return one == each || one.starts_with(each + ".");
            });
            if (is_optional) continue;
            value = before;
            value.erase(name);
            ++removed;
            REQUIRE_MESSAGE(!read_run_json(to_text(json), "a.json").ok(), one);
        }
    });
    CHECK(removed > 200);
}

TEST_CASE("report document: what messages say") {
    CHECK(refusal("") == "a.json:1:1: error: not valid JSON\n");
    CHECK(refusal("{\n  \"schema_version\": 1,\n  x}") == "a.json:3:3: error: not valid JSON\n");
    CHECK(contains(refusal("\xff"), "byte 0 is not valid UTF-8"));
    CHECK(contains(refusal(std::string(40, '[') + std::string(40, ']')), "nested deeper than 32 levels"));
    const std::string fix =
        "\n  fix: give what render, build, test or run wrote with --format json, or report.json of their "
        "output folder\n";
    CHECK(refusal("[]") == "a.json: error: $: found a list, expected an object" + fix);
    CHECK(refusal("{}") == "a.json: error: $.schema_version: missing: this is no report of cudamatrix" + fix);
    CHECK(refusal("{\"schema_version\": 2, \"command\": \"run\"}") ==
          "a.json: error: $.schema_version: found 2, expected 1" + fix);
    CHECK(refusal("{\"schema_version\": 1, \"rejections\": []}") ==
          "a.json: error: $.command: missing: this is no report of render, build, test or run" + fix);
    CHECK(refusal_with([](Json& json) { json["cells"][2]["outcome"] = "passd"; }) ==
          "a.json: error: $.cells[2].outcome: found \"passd\", expected skipped, planned, passed, "
          "passed_without_gpu, failed, errored\n");
    CHECK(refusal_with([](Json& json) { json["cells"][0]["tests"][1]["milliseconds"] = -0.5; }) ==
          "a.json: error: $.cells[0].tests[1].milliseconds: found -0.5, expected a number that is not "
          "negative\n");
    CHECK(refusal_with([](Json& json) { json["exit_code"] = 5; }) ==
          "a.json: error: $.exit_code: found 5, expected 0, 1, 2, 3, 4 or 130\n");
    CHECK(refusal_with([](Json& json) { json["images"][0].erase("log"); }) ==
          "a.json: error: $.images[0].log: missing\n");
    for (const auto& odd : {std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'A'),
                            std::string(64, 'g'), std::string(64, ' '), std::string("sha256:")}) {
        for (const auto* name : {"inputs", "proof_inputs"}) {
            CHECK(refusal_with([&](Json& json) { json["images"][0][name] = odd; }) ==
                  fmt::format("a.json: error: $.images[0].{}: found {}, expected 64 hex digits\n", name,
                              clipped("\"" + odd + "\"", 60)));
        }
    }
    CHECK(refusal_with([](Json& json) { json["cells"][0]["score"] = 1; }) ==
          "a.json: error: $.cells[0].score: unknown member\n");
    CHECK(refusal_with([](Json& json) { json["verdicts"]["accepted"] = 6; }) ==
          "a.json: error: $.verdicts.accepted: found 6, but by the rest of the report it is 3\n");
    CHECK(refusal_with([](Json& json) { json["result"] = "pass"; }) ==
          "a.json: error: $.result: found \"pass\", but by the rest of the report it is \"fail\"\n");
    CHECK(refusal_with([](Json& json) { json["cells"][1]["id"] = json["cells"][0]["id"]; }) ==
          "a.json: error: $.cells[1]: the id drv550.54.15-t4-cu11.8.0-debian12 stands there twice\n");
    CHECK(refusal_with([](Json& json) {
              json["cells"][3]["fixes"] = {"a", "b"};
          }) == "a.json: error: $.cells[3].fixes: found a list, expected one for each of findings\n");
    // All at once, but not thousands.
    const auto many = refusal_with([](Json& json) {
        for (auto& cell : json["cells"]) {
            for (const auto* name : {"id", "cell", "verdict", "proof"})
                cell[name] = 1;
        }
    });
    CHECK(std::ranges::count(many, '\n') == 21);
    CHECK(contains(many, "\n  note: and 4 more mistakes\n"));
    for (const auto& hostile : fixtures::hostile_texts()) {
        const auto text = refusal_with([&](Json& json) {
            json["cells"][0]["outcome"] = hostile;
            json[hostile] = 1;
        });
        CHECK(fixtures::terminal_safe(text));
        CHECK(text.size() < 2000);
    }
}

TEST_CASE("merge: one report stays as it is, exit code included") {
    for (const int code : {0, 1, 4, 130}) {
        auto report = fixtures::run();
        report.exit_code = code;
        CHECK(run_json(merged({{"x/a.json", report}}).report) == run_json(report));
    }
    CHECK(merged({{"a.json", fixtures::green_run()}}, {.accept_static = true}).report.exit_code == 0);
    CHECK(merged({{"a.json", fixtures::green_run()}}, {.require_gpu = true}).report.exit_code == 1);
    CHECK(merged({{"a.json", fixtures::green_run()}}, {.strict = true, .accept_static = true})
              .report.exit_code == 1);
}

TEST_CASE("merge: of a cell the result that says most stands, of equal ones the last") {
    using enum CellOutcome;
    auto tested = fixtures::green_run();
    const auto outcome_after = [&](CellOutcome first, CellOutcome second, bool second_is_chosen = true) {
        auto a = tested;
        auto b = tested;
        a.cells[0].outcome = first;
        b.cells[0].outcome = second;
        b.cells[0].chosen = second_is_chosen;
        b.cells[0].reason = "of b";
        const auto both = merged({{"a.json", a}, {"b.json", b}}).report;
        CHECK(both.cells.size() == 3);
        CHECK(both.images.size() == 1);
        CHECK((both.cells[0].reason == "of b") ==
              (both.cells[0].chosen == second_is_chosen && both.cells[0].outcome == second));
        return both.cells[0].outcome;
    };
    CHECK(outcome_after(failed, passed_without_gpu) == passed_without_gpu);
    CHECK(outcome_after(passed_without_gpu, failed) == failed);
    CHECK(outcome_after(passed_without_gpu, errored) == errored);
    CHECK(outcome_after(passed_without_gpu, planned) == passed_without_gpu);
    CHECK(outcome_after(planned, passed_without_gpu) == passed_without_gpu);
    CHECK(outcome_after(planned, skipped) == planned);
    CHECK(outcome_after(failed, skipped) == failed);
    CHECK(outcome_after(skipped, skipped) == skipped);
    CHECK(outcome_after(skipped, skipped, false) == skipped);
    CHECK(outcome_after(skipped, errored) == errored);
}

TEST_CASE("merge: two halves of a matrix become the whole") {
    auto first = fixtures::run();
    auto second = first;
    first.cells[2].outcome = CellOutcome::skipped;
    first.cells[2].chosen = false;
    first.cells[2].tests.clear();
    second.cells[0].outcome = CellOutcome::skipped;
    second.cells[0].chosen = false;
    second.images[0].built = false;
    second.images[0].digest.clear();
    second.seconds = 1;
    second.command = "test";
    second.engine = "podman";
    const auto both = merged({{"t4/a.json", first}, {"h100/b.json", second}});
    CHECK(both.notes.empty());
    const auto& report = both.report;
    CHECK(closing_line(report) == closing_line(fixtures::run()));
    CHECK(report.images[0].built);
    CHECK(report.images[0].log == "t4/logs/image-debian12-cu11.8.0.log");
    CHECK(report.cells[0].log == "t4/logs/drv550.54.15-t4-cu11.8.0-debian12.log");
    CHECK(report.cells[2].log == "h100/logs/drv550.54.15-h100-cu11.8.0-debian12.log");
    CHECK(report.cells[5].log.empty());
    CHECK(report.output.empty());
    CHECK(report.seconds == 322.5);
    CHECK(report.command == "run");
    CHECK(report.engine == "docker, podman");
    CHECK(report.engine_why == "the daemon answers at the default socket");
    CHECK(report.exit_code == 1);
    // And it is a report like any other.
    const auto read = read_run_json(run_json(report), "c.json");
    REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : said(read.failure())));
    CHECK(run_json(*read) == run_json(report));
    // In one folder the paths stay.
    const auto beside = merged({{"out/a.json", first}, {"out/b.json", second}}).report;
    CHECK(beside.output == "cudamatrix-out/training");
    CHECK(beside.cells[0].log == "logs/drv550.54.15-t4-cu11.8.0-debian12.log");
}

TEST_CASE("merge: the exit code is that of the results") {
    auto failing = fixtures::green_run();
    failing.cells[0].outcome = CellOutcome::failed;
    failing.exit_code = 1;
    const auto green = fixtures::green_run();
    CHECK(merged({{"a.json", failing}, {"b.json", green}}).report.exit_code == 4);
    CHECK(merged({{"a.json", green}, {"b.json", failing}}).report.exit_code == 1);
    CHECK(merged({{"a.json", failing}, {"b.json", green}}, {.accept_static = true}).report.exit_code == 0);
    auto ran = green;
    ran.gpu = true;
    for (const std::size_t cell : {0u, 1u})
        ran.cells[cell].outcome = CellOutcome::passed;
    CHECK(merged({{"a.json", green}, {"b.json", ran}}).report.exit_code == 0);
    CHECK(merged({{"a.json", green}, {"b.json", ran}}, {.strict = true}).report.exit_code == 1);
    auto planned = green;
    planned.cells[0].outcome = planned.cells[1].outcome = CellOutcome::planned;
    CHECK(merged({{"a.json", planned}, {"b.json", planned}}).report.exit_code == 1);
    planned.command = "build";
    CHECK(merged({{"a.json", planned}, {"b.json", planned}}).report.exit_code == 0);
    planned.images[0].error = "the base cannot be made";
    planned.images[0].not_run = true;
    CHECK(merged({{"a.json", planned}, {"b.json", planned}}).report.exit_code == 3);
    RunReport empty;
    CHECK(exit_code_of(empty, {}) == ExitCode::findings);
}

TEST_CASE("merge: an image that is another one in two files is noted") {
    auto other = fixtures::green_run();
    other.images[0].digest = "sha256:" + std::string(64, 'b');
    const auto both = merged({{"a.json", fixtures::green_run()}, {"b.json", other}});
    CHECK(both.report.images[0].digest == other.images[0].digest);
    REQUIRE(both.notes.size() == 1);
    CHECK(render(both.notes[0], {}) ==
          "b.json: note: image debian12-cu11.8.0 has another digest than in a file before: the report shows "
          "one of them\n");
}

TEST_CASE("merge: an image that was tried stands before one that the environment kept from it") {
    const auto built = fixtures::green_run();
    auto failed = built, kept = built, untried = built;
    for (auto* report : {&failed, &kept, &untried}) {
        report->images[0].built = false;
        report->images[0].digest.clear();
    }
    failed.images[0].error = "nvcc fatal";
    kept.images[0].error = "no space left";
    kept.images[0].not_run = true;
    const auto stands = [](const RunReport& first, const RunReport& second) {
        return std::string(build_word(merged({{"a.json", first}, {"b.json", second}}).report.images[0]));
    };
    for (const auto* tried : std::initializer_list<const RunReport*>{&built, &failed}) {
        const auto word = std::string(build_word(tried->images[0]));
        CHECK(stands(*tried, kept) == word);
        CHECK(stands(kept, *tried) == word);
        CHECK(stands(*tried, untried) == word);
    }
    CHECK(stands(kept, untried) == "not run");
    CHECK(stands(untried, kept) == "not run");
    CHECK(stands(built, failed) == "failed");
    CHECK(stands(failed, built) == "built");
}

TEST_CASE("merge: an image that was made of other files in two files is refused") {
    const auto report = fixtures::green_run();
    auto other = report;
    other.images[0].inputs = std::string(64, 'c');
    CHECK(conflict(report, other) ==
          "b.json: error: image debian12-cu11.8.0 was made of other files than in a file before: its inputs "
          "are cccccccccccc, there 111111111111\n"
          "  fix: make both reports with the same matrix file, lock and options\n");
    other = report;
    other.images[0].proof_inputs = std::string(64, 'd');
    other.images[0].digest.clear();
    CHECK(conflict(report, other) ==
          "b.json: error: image debian12-cu11.8.0 was made of other files than in a file before: its proof's "
          "inputs are dddddddddddd, there 222222222222\n"
          "  fix: make both reports with the same matrix file, lock and options\n");
    // A report of before says nothing of them.
    other.images[0].inputs.clear();
    other.images[0].proof_inputs.clear();
    const auto both = merged({{"a.json", report}, {"b.json", other}}).report;
    CHECK(both.images.size() == 1);
    CHECK(both.images[0].inputs.empty());
    CHECK(merged({{"a.json", other}, {"b.json", report}}).report.images[0].inputs == std::string(64, '1'));
}

TEST_CASE("merge: what does not belong together is refused") {
    const auto report = fixtures::green_run();
    auto other = report;
    other.matrix = "inference";
    CHECK(conflict(report, other) ==
          "b.json: error: the matrix is inference, that of a.json is training\n"
          "  fix: merge reports of one matrix\n");
    other = report;
    other.version = "0.2.0";
    CHECK(conflict(report, other) ==
          "b.json: error: the version of cudamatrix is 0.2.0, that of a.json is 0.1.0\n"
          "  fix: make both reports with one version\n");
    other = report;
    other.facts_hash = "ba9876543210";
    CHECK(conflict(report, other) ==
          "b.json: error: the hash of the facts is ba9876543210, that of a.json is 0123456789ab\n"
          "  fix: make both reports with the same facts\n");
    other = report;
    other.facts_date = "2026-11-22";
    CHECK(contains(conflict(report, other),
                   "the date of the facts is 2026-11-22, that of a.json is 2026-11-21"));
    other = report;
    other.cells[1].verdict = "accepted";
    CHECK(conflict(report, other) ==
          "b.json: error: drv470.161.03-t4-cu11.8.0-debian12 is accepted here and degraded in a file before\n"
          "  fix: make both reports with the same options\n");
    other = report;
    other.cells[1].fields[0].second = "550";
    CHECK(conflict(report, other) ==
          "b.json: error: drv470.161.03-t4-cu11.8.0-debian12 has other fields than in a file before\n"
          "  fix: make both reports of the same matrix file\n");
    // What a machine without a GPU claims is not believed for the sake of another one.
    other = report;
    other.cells[0].tests[2].status = TestStatus::pass;
    auto with_gpu = report;
    with_gpu.gpu = true;
    CHECK(conflict(with_gpu, other) ==
          "b.json: error: drv550.54.15-t4-cu11.8.0-debian12 is said to have run on a GPU, and the report has "
          "none\n  fix: leave this report out\n");
    CHECK(merge_runs({{"a.json", report}, {"b.json", other}}, {}).ok());
}
