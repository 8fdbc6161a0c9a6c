#include "report/run_reports.hpp"

#include <doctest/doctest.h>

#include "base/json.hpp"
#include "report/formats.hpp"
#include "unit/report/fixtures.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;
using fixtures::golden;

namespace {

using fatbin::Kind;
using fatbin::Variant;

scan::Library torch_library() {
    scan::Library out;
    out.path = "torch/lib/libtorch_cuda.so";
    out.size = 900'000'000;
    out.entries = 16;
    out.bytes = 812'345'678;
    out.containers = 5;
    out.containers_without_kernels = 1;
    out.hidden_containers = 1;
    out.sections = {".nv_fatbin", "__nv_relfatbin", ".ldata"};
    out.searched = true;
    out.targets = {{Kind::sass, 2, {7, 5, Variant::base}, {}, true, 4, 400'000'000, 0},
                   {Kind::sass, 2, {9, 0, Variant::specific}, {}, true, 5, 400'000'000, 5},
                   {Kind::ptx, 1, {9, 0, Variant::base}, {8, 4}, true, 4, 12'000'000, 4},
                   {Kind::lto, 8, {12, 0, Variant::family}, {}, true, 1, 345'000, 1},
                   {Kind::other, 16, {12, 0, Variant::base}, {}, true, 1, 600, 0},
                   {Kind::sass, 2, {5, 2, Variant::base}, {}, false, 1, 78, 0}};
    out.offer.loaded = {{Kind::sass, {7, 5, Variant::base}, {}},
                        {Kind::sass, {9, 0, Variant::specific}, {}},
                        {Kind::ptx, {9, 0, Variant::base}, {8, 4}}};
    return out;
}

scan::Library archive() {
    scan::Library out;
    out.path = "lib/lib\x1b[31mred.a";
    out.size = 2000;
    out.entries = 1;
    out.bytes = 800;
    out.containers = 1;
    out.members = 3;
    out.members_with_code = 1;
    out.sections = {"__nv_relfatbin"};
    out.targets = {{Kind::sass, 2, {8, 0, Variant::base}, {}, true, 1, 800, 1}};
    out.offer.parts[{{Kind::sass, {8, 0, Variant::base}, {}}}] = 1;
    return out;
}

scan::Library damaged() {
    scan::Library out;
    out.path = "lib/broken.so";
    out.error = "ELF section table lies outside the file";
    return out;
}

ScanReport sample() {
    ScanReport report;
    report.tool = fixtures::kTool;
    report.scans.push_back({"site-packages",
                            "folder",
                            {archive(), damaged(), torch_library()},
                            {{"secret", "Permission denied"}},
                            1234,
                            {}});
    report.questions = {
        {"T4 (compute 7.5)", {7, 5, Variant::base}, "driver 535.183.01", fatbin::PtxIsa{8, 2}},
        {"B200 (compute 10.0)", {10, 0, Variant::base}, "driver 535.183.01", fatbin::PtxIsa{8, 2}}};
    const FactRef driver{"driver-r535", {"https://example.org/drivers"}, "2026-08-22", Confidence::read};
    report.question_facts = {{driver}, {driver}};
    report.answers = {scan::answers(report.scans[0], report.questions)};
    const FactRef policy{
        "policy-ptx-isa-driver", {"https://example.org/ptx"}, "2026-11-21", Confidence::measured};
    report.findings = scan_findings(report, {policy});
    return report;
}

}  // namespace

TEST_CASE("scan text: libraries, answers, what was not read, findings") {
    CHECK(scan_text(sample()) == golden("scan.txt"));
}

TEST_CASE("scan text: one library is followed by its table") {
    ScanReport report = sample();
    report.scans[0] = {"lib.so", "file", {torch_library()}, {}, 1, {}};
    report.questions.clear();
    report.answers = {{}};
    report.findings.clear();
    CHECK(scan_text(report) == golden("scan_one.txt"));
}

TEST_CASE("scan json: the whole document") {
    CHECK(scan_json(sample()) == golden("scan.json"));
}

TEST_CASE("scan json: without GPUs nothing is said about them") {
    ScanReport report = sample();
    report.questions.clear();
    report.answers = {{}};
    report.findings.clear();
    const auto json = parse_json(scan_json(report), "report");
    REQUIRE(json.ok());
    CHECK_FALSE(json->contains("findings"));
    CHECK_FALSE(json->contains("gpus"));
    CHECK_FALSE(json->at("libraries").at(0).contains("answers"));
    CHECK(json->at("libraries").at(2).at("sass") == Json{"7.5", "9.0a"});
    CHECK(json->at("libraries").at(2).at("ptx") == Json{"9.0"});
    CHECK(json->at("libraries").at(2).at("lto") == Json{"12.0f"});
}

TEST_CASE("scan findings: no code is an error, a damaged library unknown, code none") {
    const auto report = sample();
    std::vector<std::string> lines;
    for (const auto& found : report.findings)
        lines.push_back(std::string(to_string(found.group.finding.severity)) + ": " +
                        found.group.finding.message);
    CHECK(lines == std::vector<std::string>{"error: lib/lib?[31mred.a has no code for T4 (compute 7.5), "
                                            "driver 535.183.01: nothing here runs on 7.5 "
                                            "(sass 8.0)",
                                            "error: lib/lib?[31mred.a has no code for B200 (compute 10.0), "
                                            "driver 535.183.01: nothing here runs on 10.0 "
                                            "(sass 8.0)",
                                            "unknown: lib/broken.so: whether it has code for T4 (compute "
                                            "7.5), driver 535.183.01 is unknown: ELF section "
                                            "table lies outside the file",
                                            "unknown: lib/broken.so: whether it has code for B200 (compute "
                                            "10.0), driver 535.183.01 is unknown: ELF "
                                            "section table lies outside the file",
                                            "error: torch/lib/libtorch_cuda.so has no code for B200 (compute "
                                            "10.0), driver 535.183.01: ptx 9.0 is PTX ISA "
                                            "8.4, the driver knows up to 8.2"});
    CHECK(report.findings.back().group.finding.facts.back().id == "policy-ptx-isa-driver");
    CHECK(report.findings.front().group.finding.facts.size() == 1);
}

TEST_CASE("scan text: hostile names and narrow terminals") {
    ScanReport report = sample();
    report.text.width = 40;
    for (const auto& hostile : fixtures::hostile_texts()) {
        report.scans[0].libraries[0].path = hostile;
        report.scans[0].libraries[1].error = hostile;
        report.scans[0].libraries[2].sections = {hostile};
        report.scans[0].not_read = {{hostile, hostile}};
        report.scans[0].target = hostile;
        report.findings = scan_findings(report, {});
        CHECK(fixtures::terminal_safe(scan_text(report)));
        CHECK(parse_json(scan_json(report), "report").ok());
    }
}
