#include "report/matrix_reports.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "base/json.hpp"
#include "base/text.hpp"
#include "knowledge/finding/finding.hpp"
#include "report/formats.hpp"
#include "unit/report/fixtures.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;
using fixtures::golden;
using fixtures::Judged;

namespace {

Diagnostic useless_exclude() {
    return Diagnostic::warning("this exclude matches no cell", {"matrix.yaml", 4, 3, 6})
        .with_fix("remove it");
}

std::string summary_line(const std::string& report) {
    const auto lines = text::split(report, '\n');
    return lines.size() < 2 ? report : lines[lines.size() - 2];
}

}  // namespace

TEST_CASE("check text: a line for each finding and one for its fix, then the table") {
    Judged data;
    CHECK(
        check_text(data.report()) ==
        "matrix.yaml:4:12: error: driver 470.161.03 is too old for CUDA 12.4.1: CUDA 12 needs >= 525.60.13 "
        "[driver-supports-cuda, at runtime, 1 cell]\n"
        "  fix: driver >= 525.60.13, or cuda 11.8.0 with this driver, or exclude: {driver: \"470.161.03\"}\n"
        "matrix.yaml:5:12: warning: python 3.9 had its last release on 2025-10-31 [end-of-life, at install, "
        "1 cell]\n"
        "  fix: python 3.12\n"
        "\n"
        "  CELL                  VERDICT   DECIDED BY\n"
        "  drv470.161.03-py3.12  rejected  runtime: driver-supports-cuda\n"
        "  drv550.54.15-py3.9    degraded  install: end-of-life\n"
        "  drv550.54.15-py3.12   accepted\n"
        "\n"
        "training: 3 cells: 1 accepted, 1 degraded, 1 rejected\n");
}

TEST_CASE("check text: verbose prints findings as a compiler does") {
    Judged data;
    auto report = data.report();
    report.text.verbose = true;
    const auto& source = data.matrix.source;
    CHECK(check_text(report).starts_with(render_finding(fixtures::driver_too_old(), source, false) +
                                         render_finding(fixtures::python_end_of_life(), source, false) +
                                         "\n  CELL "));
}

TEST_CASE("check text: the worst findings come first, notes are counted") {
    Judged data;
    auto& findings = data.judgement.findings;
    const auto first_words = [&](bool verbose) {
        auto report = data.report();
        report.text.verbose = verbose;
        std::vector<std::string> out;
        for (const auto& line : text::split(check_text(report), '\n')) {
            if (line.starts_with("matrix.yaml:")) out.push_back(text::split(line, ' ')[1]);
        }
        return out;
    };
    findings.clear();
    for (const auto severity :
         {Severity::note, Severity::notice, Severity::warning, Severity::unknown, Severity::error}) {
        findings.push_back(fixtures::driver_too_old());
        findings.back().finding.severity = severity;
    }
    findings.push_back(fixtures::driver_too_old());
    findings.back().waived = Waived{"mirrored", "2027-03-31", {}};
    CHECK(first_words(false) == std::vector<std::string>{"error:", "unknown:", "warning:", "notice:"});
    CHECK(first_words(true) ==
          std::vector<std::string>{"error:", "unknown:", "warning:", "notice:", "note:", "note:"});
    CHECK(check_text(data.report()).ends_with("1 rejected; -v shows 1 note, 1 waived finding\n"));
}

namespace {

FindingGroup unknown_gpu(std::string_view rule, Stage stage, std::string gap) {
    auto out = fixtures::driver_too_old();
    out.finding.severity = Severity::unknown;
    out.finding.rule = rule;
    out.finding.stage = stage;
    out.finding.message = gap + ": whether it runs is unknown";
    out.finding.gap = std::move(gap);
    out.finding.fixes.clear();
    return out;
}

}  // namespace

TEST_CASE("check text: what no fact knows is said once, whatever asked for it") {
    Judged data;
    data.judgement.findings = {
        unknown_gpu("driver-supports-gpu", Stage::driver_load, "no fact knows gpu T5"),
        unknown_gpu("torch-ships-compute", Stage::runtime, "no fact knows gpu T5"),
        unknown_gpu("torch-ships-compute", Stage::runtime, "no fact knows gpu T6"),
        unknown_gpu("torch-ships-compute", Stage::runtime, ""),
        unknown_gpu("torch-ships-compute", Stage::runtime, ""),
    };
    data.judgement.cells[0].findings = {0, 1};
    data.judgement.cells[1].findings = {1};
    data.judgement.cells[2].findings = {2, 3};
    const auto text = check_text(data.report());
    CHECK(
        text.substr(0, text.find("\n\n")) ==
        "matrix.yaml:4:12: unknown: no fact knows gpu T5: 2 questions cannot be answered "
        "[driver-supports-gpu at driver_load, torch-ships-compute at runtime, 2 cells]\n"
        "matrix.yaml:4:12: unknown: no fact knows gpu T6: whether it runs is unknown [torch-ships-compute, "
        "at runtime, 1 cell]\n"
        "matrix.yaml:4:12: unknown: : whether it runs is unknown [torch-ships-compute, at runtime, 1 cell]\n"
        "matrix.yaml:4:12: unknown: : whether it runs is unknown [torch-ships-compute, at runtime, 1 cell]");
}

TEST_CASE("check text: the same gap at another place of the file is another finding") {
    Judged data;
    data.judgement.findings = {unknown_gpu("driver-supports-gpu", Stage::driver_load, "no fact knows gpu T5"),
                               unknown_gpu("torch-ships-compute", Stage::runtime, "no fact knows gpu T5")};
    data.judgement.findings[1].where.line = 5;
    CHECK(check_text(data.report()).find("cannot be answered") == std::string::npos);
}

TEST_CASE("check text: the reader's warnings come first") {
    Judged data;
    data.matrix.warnings = {useless_exclude()};
    CHECK(check_text(data.report()).starts_with("matrix.yaml:4:3: warning: this exclude matches no cell\n"));
}

TEST_CASE("check text: a stage that does not count is not what decided a cell") {
    Judged data;
    data.matrix.stages = {"install"};
    data.judgement.cells[0].findings = {0, 2, 3};
    for (int i = 0; i < 2; ++i) {
        auto blocker = fixtures::driver_too_old();
        blocker.finding.rule = i == 0 ? "torch-supports-python" : "torch-built-for-cuda";
        blocker.finding.stage = Stage::install;
        data.judgement.findings.push_back(blocker);
    }
    const auto text = check_text(data.report());
    CHECK(text.find("drv470.161.03-py3.12  rejected  install: torch-supports-python (+1)\n") !=
          std::string::npos);
    CHECK(text.find("runtime: driver-supports-cuda\n") == std::string::npos);
}

TEST_CASE("check text: one line for each cell, ids cut on a terminal and nowhere else") {
    Judged data;
    data.judgement.findings.clear();
    data.judgement.cells.clear();
    data.judgement.verdicts = {};
    const std::string id(100, 'a');
    data.add(id + "-tail", {}, Verdict::accepted);
    data.add("short", {}, Verdict::unknown);
    auto report = data.report();
    CHECK(check_text(report) == "  CELL" + std::string(103, ' ') +
                                    "VERDICT   DECIDED BY\n"
                                    "  " +
                                    id +
                                    "-tail  accepted\n"
                                    "  short" +
                                    std::string(102, ' ') +
                                    "unknown\n"
                                    "\n"
                                    "training: 2 cells: 1 accepted, 1 unknown\n");
    report.text.cut = true;
    CHECK(check_text(report) == "  CELL" + std::string(54, ' ') +
                                    "VERDICT   DECIDED BY\n"
                                    "  " +
                                    std::string(27, 'a') + "..." + std::string(21, 'a') +
                                    "-tail  accepted\n"
                                    "  short" +
                                    std::string(53, ' ') +
                                    "unknown\n"
                                    "\n"
                                    "training: 2 cells: 1 accepted, 1 unknown\n");
}

TEST_CASE("check text: more than 40 cells are a grid") {
    Judged data;
    for (int i = 0; i < 37; ++i)
        data.add(fmt::format("cell{}", i), {}, Verdict::accepted);
    CHECK(check_text(data.report()).find("  cell36  ") != std::string::npos);
    data.add("one more", {}, Verdict::accepted);
    const auto text = check_text(data.report());
    CHECK(text.find("DECIDED BY") == std::string::npos);
    CHECK(text.find("  R rejected") == std::string::npos);
    CHECK(text.ends_with("\n\ntraining: 41 cells: 39 accepted, 1 degraded, 1 rejected\n"));
}

TEST_CASE("check text: no cells at all") {
    Judged data;
    data.judgement = {};
    CHECK(check_text(data.report()) == "training: 0 cells\n");
}

TEST_CASE("check text: colour only where it is asked for") {
    Judged data;
    CHECK(check_text(data.report(80, false)).find('\x1b') == std::string::npos);
    const auto coloured = check_text(data.report(80, true));
    CHECK(coloured.find("  drv550.54.15-py3.12   \x1b[32maccepted\x1b[0m\n") != std::string::npos);
    CHECK(coloured.find("  drv470.161.03-py3.12  \x1b[31mrejected\x1b[0m  runtime") != std::string::npos);
}

TEST_CASE("check markdown: the whole document") {
    Judged data;
    data.judgement.findings[1].finding.severity = Severity::note;
    CHECK(check_markdown(data.report()) ==
          "**training**: 3 cells: 1 accepted, 1 degraded, 1 rejected\n"
          "\n"
          "| cell | verdict | decided by |\n"
          "| --- | --- | --- |\n"
          "| drv470.161.03-py3.12 | rejected | runtime: driver-supports-cuda |\n"
          "| drv550.54.15-py3.9 | degraded |  |\n"
          "| drv550.54.15-py3.12 | accepted |  |\n"
          "\n"
          "- **error** driver 470.161.03 is too old for CUDA 12.4.1: CUDA 12 needs &gt;= 525.60.13 "
          "(driver-supports-cuda, at runtime, 1 cell, line 4)\n"
          "  - fix: driver &gt;= 525.60.13, or cuda 11.8.0 with this driver, or exclude: "
          "\\{driver: \"470.161.03\"\\}\n"
          "- not shown: 1 note\n");
}

TEST_CASE("check markdown: no text of the matrix becomes markup") {
    Judged data;
    data.judgement.findings.resize(1);
    data.judgement.cells.clear();
    data.matrix.name = "a|b<script>";
    data.judgement.findings[0].finding.message = "`x` *y* [z](http://u) <b> &amp; @me #1 ~a~ $b$\n\n# title";
    data.judgement.findings[0].finding.fixes.clear();
    CHECK(
        check_markdown(data.report()) ==
        "**a\\|b&lt;script&gt;**: 3 cells: 1 accepted, 1 degraded, 1 rejected\n"
        "\n"
        "- **error** \\`x\\` \\*y\\* \\[z\\]\\(http://u\\) &lt;b&gt; &amp;amp; @<!-- -->me #<!-- -->1 \\~a\\~ "
        "\\$b\\$  #<!-- --> title (driver-supports-cuda, at runtime, 1 cell, line 4)\n");
}

TEST_CASE("check markdown: many cells are a grid") {
    Judged data;
    for (int i = 0; i < 38; ++i)
        data.add(fmt::format("cell{}", i), {}, Verdict::accepted);
    data.judgement.findings.clear();
    CHECK(check_markdown(data.report()) ==
          "**training**: 41 cells: 39 accepted, 1 degraded, 1 rejected\n"
          "\n"
          "| python | 470.161.03 | 550.54.15 | - |\n"
          "| --- | --- | --- | --- |\n"
          "| 3.12 | R | A | . |\n"
          "| 3.9 | . | D | . |\n"
          "| - | . | . | A |\n"
          "\n"
          "A accepted, D degraded, R rejected, . no such cell\n"
          "\n");
}

TEST_CASE("check json: the whole document") {
    Judged data;
    CHECK(check_json(data.report()) == golden("check.json"));
}

TEST_CASE("check json: warnings and asked stages are in the document") {
    Judged data;
    data.matrix.stages = {"install", "runtime"};
    data.matrix.warnings = {useless_exclude()};
    const auto json = parse_json(check_json(data.report()), "report");
    REQUIRE(json.ok());
    CHECK(json->at("matrix").at("stages") == Json({"install", "runtime"}));
    CHECK(json->at("warnings").at(0).at("message") == "this exclude matches no cell");
    CHECK(json->at("warnings").at(0).at("line") == 4);
}

TEST_CASE("check github: one annotation for each finding") {
    Judged data;
    CHECK(check_github(data.report()) ==
          "::error file=matrix.yaml,line=4,col=12,endColumn=24,title=driver-supports-cuda (runtime)::driver "
          "470.161.03 is "
          "too old for CUDA 12.4.1: CUDA 12 needs >= 525.60.13%0A1 cell, first drv470.161.03-py3.12%0Afix: "
          "driver >= "
          "525.60.13, or cuda 11.8.0 with this driver, or exclude: {driver: \"470.161.03\"}\n"
          "::warning file=matrix.yaml,line=5,col=12,endColumn=17,title=end-of-life (install)::python 3.9 had "
          "its last "
          "release on 2025-10-31%0A1 cell, first drv550.54.15-py3.9%0Afix: python 3.12\n"
          "cudamatrix check training: 3 cells: 1 accepted, 1 degraded, 1 rejected\n");
}

TEST_CASE("check github: unknown is a warning that says so, a note a notice") {
    Judged data;
    auto& findings = data.judgement.findings;
    findings[0].finding.severity = Severity::unknown;
    findings[0].finding.fixes.clear();
    findings[0].where = {"matrix.yaml", 0, 0, 1};
    findings[1].finding.severity = Severity::note;
    findings[1].where = {};
    findings[1].cells = 0;
    CHECK(check_github(data.report()) ==
          "::warning file=matrix.yaml,title=unknown%3A driver-supports-cuda (runtime)::driver 470.161.03 is "
          "too old for CUDA "
          "12.4.1: CUDA 12 needs >= 525.60.13%0A1 cell, first drv470.161.03-py3.12\n"
          "::notice title=end-of-life (install)::python 3.9 had its last release on 2025-10-31%0Afix: python "
          "3.12\n"
          "cudamatrix check training: 3 cells: 1 accepted, 1 degraded, 1 rejected\n");
}

TEST_CASE("check github: properties and data are escaped each by their own rules") {
    Judged data;
    auto& group = data.judgement.findings[0];
    group.where.file = "a,b:100%.yaml";
    group.finding.message = "50%: a, b\r\n::error::forged";
    group.finding.fixes.clear();
    const auto lines = text::split(check_github(data.report()), '\n');
    REQUIRE(lines.size() == 4);
    CHECK(lines[0] ==
          "::error file=a%2Cb%3A100%25.yaml,line=4,col=12,endColumn=24,title=driver-supports-cuda "
          "(runtime)::50%25: "
          "a, b  ::error::forged%0A1 cell, first drv470.161.03-py3.12");
}

TEST_CASE("check github: the matrix' name cannot start a command") {
    Judged data;
    data.judgement = {};
    data.matrix.name = "::stop-commands::x\n::error::y";
    CHECK(check_github(data.report()) == "cudamatrix check ::stop-commands::x ::error::y: 0 cells\n");
}

TEST_CASE("check github: the reader's warnings are annotations too") {
    Judged data;
    data.judgement = {};
    data.matrix.warnings = {useless_exclude()};
    CHECK(check_github(data.report()) ==
          "::warning file=matrix.yaml,line=4,col=3,endColumn=9,title=matrix file::this exclude matches no "
          "cell%0Afix: remove it\n"
          "cudamatrix check training: 0 cells\n");
}

TEST_CASE("check summary: counts by rule") {
    Judged data;
    CHECK(check_summary_text(data.report()) ==
          "  RULE                  REJECTED  UNKNOWN  DEGRADED  END OF LIFE  NOTES\n"
          "  driver-supports-cuda         1        0         0            0      0\n"
          "  end-of-life                  0        0         1            0      0\n"
          "\n"
          "training: 3 cells: 1 accepted, 1 degraded, 1 rejected\n");
    CHECK(check_summary_json(data.report()) == golden("summary.json"));
}

TEST_CASE("check summary: waived findings have a column of their own, where there are any") {
    Judged data;
    data.judgement.rules[1].waived = 7;
    CHECK(check_summary_text(data.report()) ==
          "  RULE                  REJECTED  UNKNOWN  DEGRADED  END OF LIFE  NOTES  WAIVED\n"
          "  driver-supports-cuda         1        0         0            0      0       7\n"
          "  end-of-life                  0        0         1            0      0       0\n"
          "\n"
          "training: 3 cells: 1 accepted, 1 degraded, 1 rejected\n");
    CHECK(check_summary_json(data.report()).find(R"("degraded":0,"end_of_life":0,"notes":0,"waived":7})") !=
          std::string::npos);
}

TEST_CASE("check: a waived finding is shown as what it was, with reason and end") {
    Judged data;
    auto& group = data.judgement.findings[0];
    group.waived = Waived{"mirrored, by\nus", "2027-03-31", {"matrix.yaml", 9, 4, 1}};
    data.judgement.cells[0].verdict = Verdict::accepted;
    auto verbose = data.report();
    verbose.text.verbose = true;
    const auto text = check_text(verbose);
    CHECK(text.find("matrix.yaml:4:12: note: waived error: driver 470.161.03 is too old for CUDA 12.4.1: "
                    "CUDA 12 needs >= 525.60.13 [driver-supports-cuda, at runtime]\n") != std::string::npos);
    CHECK(text.find("  note: waived until 2027-03-31 (line 9): mirrored, by?us\n") != std::string::npos);
    CHECK(text.find("  drv470.161.03-py3.12  accepted\n") != std::string::npos);
    const auto json = parse_json(check_json(data.report()), "report");
    REQUIRE(json.ok());
    const auto& finding = json->at("findings").at(0);
    CHECK(finding.at("severity") == "error");
    CHECK(finding.at("waived") ==
          Json{{"because", "mirrored, by\nus"}, {"until", "2027-03-31"}, {"line", 9}});
    CHECK(json->at("cells").at(0).at("findings") == Json::array({0}));
    CHECK_FALSE(json->at("findings").at(1).contains("waived"));
    const auto github = check_github(data.report());
    CHECK(github.find("\n::notice file=matrix.yaml,line=4,col=12,endColumn=24,title=waived%3A "
                      "driver-supports-cuda (runtime)::driver 470.161.03") != std::string::npos);
    CHECK(github.find("%0Awaived until 2027-03-31: mirrored, by us%0A") != std::string::npos);
}

TEST_CASE("check json: facts that are old say so") {
    Judged data;
    auto report = data.report();
    report.tool.facts_warning = "facts are 200 days old";
    const auto json = parse_json(check_json(report), "report");
    REQUIRE(json.ok());
    CHECK(json->at("facts").at("warning") == "facts are 200 days old");
}

TEST_CASE("check summary: counts beyond 32 bits, without a listed cell") {
    Judged data;
    data.judgement.cells.clear();
    data.judgement.verdicts = {};
    data.judgement.verdicts[static_cast<std::size_t>(Verdict::rejected)] = 10'000'000'000;
    data.judgement.findings.clear();
    data.judgement.rules[1].cells[0] = 10'000'000'000;
    const auto json = parse_json(check_summary_json(data.report()), "report");
    REQUIRE(json.ok());
    CHECK(json->at("rules").at(0) == Json{{"rule", "driver-supports-cuda"},
                                          {"rejected", 10'000'000'000},
                                          {"unknown", 0},
                                          {"degraded", 0},
                                          {"end_of_life", 0},
                                          {"notes", 0},
                                          {"waived", 0}});
    CHECK(json->at("verdicts").at("rejected") == 10'000'000'000);
    CHECK(summary_line(check_summary_text(data.report())) ==
          "training: 10000000000 cells: 10000000000 rejected");
}

TEST_CASE("check: whatever the texts, every format stays what it is") {
    for (const auto& hostile : fixtures::hostile_texts()) {
        Judged data;
        data.matrix.name = hostile;
        data.matrix.path = hostile;
        data.judgement.cells[0].id = hostile;
        data.judgement.cells[0].not_checked = {hostile};
        auto& group = data.judgement.findings[0];
        group.finding.message = hostile;
        group.finding.fixes = {{hostile, {{Field::driver, hostile}}}};
        group.finding.facts[0].id = hostile;
        group.first_cell = hostile;
        group.where.file = hostile.substr(0, 4096);  // no path is longer
        Diagnostic warning = useless_exclude();
        warning.message = hostile;
        data.matrix.warnings = {warning};
        const auto report = data.report();

        for (const auto& json : {check_json(report), check_summary_json(report)}) {
            const auto parsed = parse_json(json, "report");
            REQUIRE(parsed.ok());
            CHECK(parsed->at("tool") == "cudamatrix");
        }
        CHECK(fixtures::terminal_safe(check_summary_text(report)));
        CHECK(fixtures::widest_line(summary_line(check_text(report))) <= 120);
        CHECK(fixtures::terminal_safe(check_markdown(report)));
        const auto annotations = check_github(report);
        CHECK(fixtures::terminal_safe(annotations));
        CHECK(annotations.size() < 20'000);
        const auto lines = text::split(annotations, '\n');
        CHECK(std::count_if(lines.begin(), lines.end(), [](const auto& l) { return l.starts_with("::"); }) ==
              3);
        CHECK(lines.size() == 5);
    }
}

TEST_CASE("check: the same data gives the same bytes") {
    Judged first, second;
    for (const auto& format : check_formats()) {
        CHECK(format.write(first.report()) == format.write(second.report()));
    }
}

TEST_CASE("formats: every list is found by its names, and by nothing else") {
    CHECK(names_of(check_formats()) ==
          std::vector<std::string>{"text", "json", "markdown", "github", "sarif"});
    CHECK(names_of(list_formats()) == std::vector<std::string>{"text", "json", "github-matrix", "matrix"});
    CHECK(names_of(run_formats()) ==
          std::vector<std::string>{"text", "json", "junit", "tap", "markdown", "html"});
    CHECK(names_of(rejection_formats()) == std::vector<std::string>{"text", "json", "junit", "tap"});
    CHECK(names_of(facts_formats()) == std::vector<std::string>{"text", "json"});
    REQUIRE(format_named(check_formats(), "github") != nullptr);
    CHECK((format_named(check_formats(), "github")->write_summary == nullptr));
    CHECK(names_of(rules_formats()) == std::vector<std::string>{"text", "json"});
    CHECK(names_of(kernels_formats()) == std::vector<std::string>{"text", "json"});
    CHECK(file_ending("text") == "txt");
    CHECK(file_ending("github-matrix") == "github-matrix.json");
    CHECK(file_ending("matrix") == "yaml");
    CHECK(file_ending("junit") == "xml");
    CHECK(file_ending("anything") == "txt");
    CHECK(format_named(check_formats(), "junit") == nullptr);
    CHECK(format_named(run_formats(), "") == nullptr);
    CHECK(format_named(list_formats(), "JSON") == nullptr);
}
