#include "report/sarif.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <utility>

#include "advise/lint/lint.hpp"
#include "base/text.hpp"
#include "report/matrix_reports.hpp"
#include "unit/report/fixtures.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;
using fixtures::contains;
using fixtures::Judged;

namespace {

// What follows the rules, which are many and get more; their places and the hashes are checked elsewhere.
std::string behind_rules(const std::string& sarif) {
    const auto at = sarif.find("\"automationDetails\"");
    const std::regex index(R"("ruleIndex":\d+)"), hash("[0-9a-f]{32}:");
    const auto text = std::regex_replace(sarif.substr(std::min(at, sarif.size())), index, R"("ruleIndex":N)");
    return std::regex_replace(text, hash, "HASH:");
}

Json run_of(const std::string& sarif) {
    const auto parsed = parse_json(sarif, "report");
    REQUIRE(parsed.ok());
    return parsed->at("runs").at(0);
}

std::vector<std::string> fingerprints(const std::string& sarif) {
    std::vector<std::string> out;
    const auto run = run_of(sarif);
    for (const auto& result : run["results"]) {
        const auto& names = result["partialFingerprints"];
        CHECK(names["primaryLocationLineHash"] == names["cudamatrix/v1"]);
        out.push_back(names["cudamatrix/v1"].get<std::string>());
    }
    return out;
}

// Of a finding at that place of `source`.
Json location(std::string source, const Location& where, std::string path = "matrix.yaml",
              std::string folder = {}) {
    Matrix matrix;
    matrix.path = std::move(path);
    matrix.source = std::move(source);
    SarifResult result{"r", Severity::error, {"m"}, where, {}};
    const auto run = run_of(sarif_text({"check", matrix, fixtures::kTool, folder, {{"r", "s"}}, {result}}));
    return run["results"][0]["locations"][0]["physicalLocation"];
}

std::string uri(const std::string& path, const std::string& folder) {
    const auto place = location("a\n", {path, 1, 1, 1}, path, folder);
    return place["artifactLocation"]["uri"].get<std::string>();
}

std::array<std::size_t, 4> region(const std::string& source, const Location& where) {
    const auto found = location(source, where)["region"];
    return {found["startLine"], found["startColumn"], found["endLine"], found["endColumn"]};
}

using Region = std::array<std::size_t, 4>;

}  // namespace

TEST_CASE("sarif of check: results, the worst first") {
    Judged data;
    const auto report = data.report();
    data.judgement.findings = {fixtures::python_end_of_life(), fixtures::driver_too_old()};
    data.judgement.findings[1].finding.about = {Field::driver};
    const std::string expected =
        R"j("automationDetails":{"id":"cudamatrix/check/matrix.yaml/"},
"columnKind":"utf16CodeUnits",
"invocations":[{"executionSuccessful":true}],
"results":[
{"ruleId":"driver-supports-cuda","ruleIndex":N,"level":"error","message":{"text":"driver 470.161.03 is too old for CUDA 12.4.1: CUDA 12 needs >= 525.60.13 (at runtime, 1 cell, first drv470.161.03-py3.12)\nfix: driver >= 525.60.13, or cuda 11.8.0 with this driver, or exclude: {driver: \"470.161.03\"}"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"matrix.yaml"},"region":{"startLine":4,"startColumn":12,"endLine":4,"endColumn":24}}}],"partialFingerprints":{"primaryLocationLineHash":"HASH:1","cudamatrix/v1":"HASH:1"},"properties":{"severity":"error","stage":"runtime","cells":1,"firstCell":"drv470.161.03-py3.12","facts":[{"id":"cuda-12-minimum-driver","source":"https://docs.nvidia.com/deploy/cuda-compatibility/","sources":["https://docs.nvidia.com/deploy/cuda-compatibility/","https://docs.nvidia.com/cuda/"],"as_of":"2026-10-01","confidence":"read"}]}},
{"ruleId":"end-of-life","ruleIndex":N,"level":"warning","message":{"text":"python 3.9 had its last release on 2025-10-31 (at install, 1 cell, first drv550.54.15-py3.9)\nfix: python 3.12"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"matrix.yaml"},"region":{"startLine":5,"startColumn":12,"endLine":5,"endColumn":17}}}],"partialFingerprints":{"primaryLocationLineHash":"HASH:1","cudamatrix/v1":"HASH:1"},"properties":{"severity":"warning","stage":"install","cells":1,"firstCell":"drv550.54.15-py3.9","facts":[{"id":"python-3.9","source":"","sources":[],"as_of":"2026-11-21","confidence":"measured"}]}}
]
}]}
)j";
    CHECK(behind_rules(check_sarif(report)) == expected);
}

TEST_CASE("sarif of check: every rule is listed, and each result names its own") {
    Judged data;
    data.matrix.rules = {
        {"no-535", {}, {}, "frozen *now*", "https://example.org", "runtime", Severity::warning, {}}};
    data.judgement.findings.push_back(fixtures::driver_too_old());
    data.judgement.findings.back().finding.rule = "no-535";
    data.matrix.warnings = {Diagnostic::warning("this exclude matches no cell", {"matrix.yaml", 4, 3, 6})};
    const auto run = run_of(check_sarif(data.report()));
    const auto& rules = run["tool"]["driver"]["rules"];
    std::set<std::string> ids;
    for (const auto& rule : rules)
        CHECK(ids.insert(rule["id"]).second);
    CHECK(ids.size() == rules::all_rules().size() + 3);
    REQUIRE(run["results"].size() == 4);
    for (const auto& result : run["results"])
        CHECK(rules[result["ruleIndex"].get<std::size_t>()]["id"] == result["ruleId"]);
    const auto own = std::ranges::find_if(rules, [](const Json& rule) { return rule["id"] == "no-535"; });
    CHECK(
        to_text(*own, false) ==
        R"j({"id":"no-535","shortDescription":{"text":"A rule of the matrix file: frozen *now*"},"fullDescription":{"text":"frozen *now* (https://example.org)"},"help":{"text":"frozen *now* (https://example.org)","markdown":"frozen \\*now\\* \\(https://example.org\\)\n"},"defaultConfiguration":{"level":"warning"}})j");
    CHECK(run["tool"]["driver"]["version"] == "0.1.0");
    CHECK_FALSE(run["tool"]["driver"].contains("semanticVersion"));
}

TEST_CASE("sarif of check: levels of our severities") {
    Judged data;
    data.judgement.findings.clear();
    for (const auto severity :
         {Severity::note, Severity::notice, Severity::warning, Severity::unknown, Severity::error}) {
        data.judgement.findings.push_back(fixtures::driver_too_old());
        data.judgement.findings.back().finding.severity = severity;
    }
    auto waived = fixtures::driver_too_old();
    waived.waived = Waived{"[mirrored](x)", "2027-03-31", {"matrix.yaml", 2, 1, 4}};
    data.judgement.findings.push_back(waived);
    std::vector<std::string> seen;
    const auto run = run_of(check_sarif(data.report()));
    for (const auto& result : run["results"])
        seen.push_back(result["properties"]["severity"].get<std::string>() + " " +
                       result["level"].get<std::string>());
    CHECK(seen == std::vector<std::string>{"error error", "unknown warning", "warning warning", "notice note",
                                           "note note", "error note"});
    CHECK(run["results"][1]["message"]["text"].get<std::string>().starts_with("unknown: driver"));
    CHECK(contains(run["results"][5]["message"]["text"].get<std::string>(),
                   "\nwaived until 2027-03-31: [mirrored] (x)\nfix: "));
    CHECK(
        to_text(run["results"][5]["suppressions"], false) ==
        R"j([{"kind":"inSource","status":"accepted","justification":"until 2027-03-31: [mirrored] (x)","location":{"physicalLocation":{"artifactLocation":{"uri":"matrix.yaml"},"region":{"startLine":2,"startColumn":1,"endLine":2,"endColumn":5}}}}])j");
    CHECK_FALSE(run["results"][0].contains("suppressions"));
}

TEST_CASE("sarif of check: a fingerprint stays where lines move, and differs where values do") {
    Judged data;
    data.judgement.findings = {fixtures::driver_too_old(), fixtures::driver_too_old(),
                               fixtures::driver_too_old(), fixtures::driver_too_old()};
    for (auto& group : data.judgement.findings)
        group.finding.about = {Field::driver};
    auto& findings = data.judgement.findings;
    findings[1].first_cell = "drv550.54.15-py3.9";
    findings[2].finding.rule = "driver-supports-gpu";
    findings[3].waived = Waived{"mirrored", "2027-03-31", {}};
    const auto before = fingerprints(check_sarif(data.report()));
    CHECK(std::set(before.begin(), before.end()).size() == 4);
    for (const auto& name : before)
        CHECK(name.ends_with(":1"));
    data.matrix.source = "# more\n\n" + data.matrix.source;
    for (auto& group : findings) {
        group.where.line += 2;
        group.cells += 5;
        group.finding.message += ", say other facts";
        group.finding.fixes.clear();
    }
    CHECK(fingerprints(check_sarif(data.report())) == before);
    findings[0].finding.stage = Stage::install;
    CHECK(fingerprints(check_sarif(data.report()))[0] != before[0]);
    // What nothing tells apart is counted.
    findings = {fixtures::driver_too_old(), fixtures::driver_too_old()};
    const auto alike = fingerprints(check_sarif(data.report()));
    CHECK(alike[0].substr(0, 32) == alike[1].substr(0, 32));
    CHECK(alike[1].ends_with(":2"));
}

TEST_CASE("sarif: places in UTF-16 code units, whatever a file holds") {
    const std::string source = "a: \xf0\x9f\x98\x80\xc3\xa9 bc\r\n\xff\xffx: 1\n";
    CHECK(region(source, {"matrix.yaml", 1, 1, 1}) == Region{1, 1, 1, 2});
    CHECK(region(source, {"matrix.yaml", 1, 11, 2}) == Region{1, 8, 1, 10});
    CHECK(region(source, {"matrix.yaml", 1, 4, 6}) == Region{1, 4, 1, 7});
    CHECK(region(source, {"matrix.yaml", 2, 3, 1}) == Region{2, 3, 2, 4});
    CHECK(region(source, {"matrix.yaml", 1, 11, 500}) == Region{1, 8, 1, 10});
    CHECK(region(source, {"matrix.yaml", 1, 500, 1}) == Region{1, 1, 1, 10});
    CHECK(region(source, {"matrix.yaml", 9, 1, 1}) == Region{9, 1, 9, 1});
    // Of no line: the first one.
    CHECK(region(source, {}) == Region{1, 1, 1, 10});
    CHECK(region(source, {"--override driver=9", 0, 0, 1}) == Region{1, 1, 1, 10});
    CHECK(location(source, {"--override driver=9", 0, 0, 1})["artifactLocation"]["uri"] == "matrix.yaml");
    CHECK(region("", {}) == Region{1, 1, 1, 1});
    const auto other = location(source, {"sub/requirements.txt", 3, 2, 4});
    CHECK(other["artifactLocation"]["uri"] == "sub/requirements.txt");
    CHECK(other["region"]["endColumn"] == 6);
}

TEST_CASE("sarif: files are named relative to the current folder, never from the root") {
    CHECK(uri("matrix.yaml", "/home/team") == "matrix.yaml");
    CHECK(uri("./a/../matrix.yaml", "/home/team") == "matrix.yaml");
    CHECK(uri("/home/team/m/matrix.yaml", "/home/team") == "m/matrix.yaml");
    CHECK(uri("../team/matrix.yaml", "/home/team") == "matrix.yaml");
    CHECK(uri("../other/matrix.yaml", "/home/team") == "../other/matrix.yaml");
    CHECK(uri("/srv/matrix.yaml", "/home/team") == "../../srv/matrix.yaml");
    CHECK(uri("/srv/matrix.yaml", "") == "srv/matrix.yaml");
    CHECK(uri("a b%\"'\n$#?:[\xc3\xa9\xff.yaml", "/w") == "a%20b%25%22%27%0A%24%23%3F%3A%5B%C3%A9%FF.yaml");
    CHECK(uri("${{ x }}.yaml", "") == "%24%7B%7B%20x%20%7D%7D.yaml");
}

TEST_CASE("sarif: what GitHub does not take is left out and counted") {
    Matrix matrix;
    matrix.path = "matrix.yaml";
    const auto log = [&](std::size_t number, std::size_t length) {
        std::vector<SarifResult> results;
        for (std::size_t i = 0; i < number; ++i)
            results.push_back({"r",
                               i + 1 == number ? Severity::error : Severity::note,
                               {std::string(length, 'x')},
                               {},
                               std::to_string(i)});
        return sarif_text({"check", matrix, fixtures::kTool, {}, {{"r", "s"}}, std::move(results)});
    };
    const auto said = [](const Json& run) {
        const auto& invocation = run["invocations"][0];
        return invocation.contains("toolExecutionNotifications")
                   ? invocation["toolExecutionNotifications"][0]["message"]["text"].get<std::string>()
                   : std::string();
    };
    CHECK(said(run_of(log(5000, 1))).empty());
    CHECK(said(run_of(log(5001, 1))) == "of 5001 findings GitHub shows the worst 5000");
    const auto most = run_of(log(25'000, 1));
    CHECK(most["results"].size() == 25'000);
    const auto many = run_of(log(25'002, 1));
    CHECK(many["results"].size() == 25'000);
    CHECK(many["results"][0]["level"] == "error");
    CHECK(said(many) == "2 of 25002 findings are left out, the mildest ones: GitHub takes 25000 and 10 MB");
    const auto large = log(6'000, 2'000);
    CHECK(large.size() < 10'000'000);
    CHECK(large.size() > 9'800'000);
    CHECK(contains(said(run_of(large)), "of 6000 findings are left out, the mildest ones"));
}

TEST_CASE("sarif of check: hostile text stays text") {
    for (const auto& hostile : fixtures::hostile_texts()) {
        Judged data;
        data.matrix.name = data.matrix.path = hostile;
        data.matrix.rules = {{"own", {}, {}, hostile, hostile, "runtime", Severity::error, {}}};
        auto& group = data.judgement.findings[0];
        group.finding.message = hostile + "[click](https://example.org) ${{ x }} {0}";
        group.finding.fixes = {{hostile, {}}};
        group.where.file = hostile;
        data.matrix.warnings = {Diagnostic::warning(hostile, {hostile, 4, 3, 6}).with_fix(hostile)};
        const auto sarif = check_sarif(data.report());
        CHECK(sarif.size() < 200'000 + 3 * hostile.size());
        CHECK(fixtures::terminal_safe(sarif));
        CHECK_FALSE(contains(sarif, "]("));
        CHECK(run_of(sarif)["results"].size() == 3);
    }
}

TEST_CASE("sarif of lint: the checks, the fix in words and as replacements") {
    Judged data;
    lint::Report found;
    found.findings.push_back({"exclude-matches-nothing",
                              Severity::warning,
                              {"matrix.yaml", 4, 12, 12},
                              "this exclude covers no cell",
                              {"a note"},
                              "delete it",
                              {{4, 12, 4, 26, ""}}});
    found.findings.push_back({"facts-old", Severity::warning, {}, "facts are 200 days old", {}, "", {}});
    const LintReport report{data.matrix, data.judgement, found, fixtures::kTool, {}, {}};
    const auto sarif = lint_sarif(report);
    const std::string expected =
        R"j("automationDetails":{"id":"cudamatrix/lint/matrix.yaml/"},
"columnKind":"utf16CodeUnits",
"invocations":[{"executionSuccessful":true}],
"results":[
{"ruleId":"exclude-matches-nothing","ruleIndex":N,"level":"warning","message":{"text":"this exclude covers no cell\na note\nfix: delete it"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"matrix.yaml"},"region":{"startLine":4,"startColumn":12,"endLine":4,"endColumn":24}}}],"partialFingerprints":{"primaryLocationLineHash":"HASH:1","cudamatrix/v1":"HASH:1"},"fixes":[{"description":{"text":"delete it"},"artifactChanges":[{"artifactLocation":{"uri":"matrix.yaml"},"replacements":[{"deletedRegion":{"startLine":4,"startColumn":12,"endLine":4,"endColumn":26},"insertedContent":{"text":""}}]}]}],"properties":{"severity":"warning"}},
{"ruleId":"facts-old","ruleIndex":N,"level":"warning","message":{"text":"facts are 200 days old"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"matrix.yaml"},"region":{"startLine":1,"startColumn":1,"endLine":1,"endColumn":11}}}],"partialFingerprints":{"primaryLocationLineHash":"HASH:1","cudamatrix/v1":"HASH:1"},"properties":{"severity":"warning"}}
]
}]}
)j";
    CHECK(behind_rules(sarif) == expected);
    CHECK(run_of(sarif)["tool"]["driver"]["rules"].size() == lint::checks().size());
    // Days pass, and lines move: it is the same finding. Another text at its place is another one.
    const auto before = fingerprints(sarif);
    data.matrix.source = "#\n" + data.matrix.source;
    ++found.findings[0].where.line;
    found.findings[1].message = "facts are 201 days old";
    CHECK(fingerprints(lint_sarif(report)) == before);
    found.findings[0].where.length = 3;
    CHECK(fingerprints(lint_sarif(report))[0] != before[0]);
}
