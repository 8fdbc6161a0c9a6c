#include "unit/report/fixtures.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"
#include "folders.hpp"

namespace fixtures {
namespace {

constexpr std::string_view kSource =
    "version: 1\n"
    "name: training\n"
    "axes:\n"
    "  driver: [\"470.161.03\", \"550.54.15\"]\n"
    "  python: [\"3.9\", \"3.12\"]\n";

TestResult test(std::string id, std::string part, TestStatus status, double milliseconds) {
    TestResult out;
    out.id = std::move(id);
    out.part = std::move(part);
    out.status = status;
    out.milliseconds = milliseconds;
    return out;
}

TestResult fatbin_test() {
    auto out = test("static.fatbin", "static", TestStatus::pass, 12);
    out.fatbin = {"sass 7.5", "sass 8.0", "ptx 8.0@7.8"};
    out.code_path = "sass 7.5";
    return out;
}

TestResult skipped_test() {
    auto out = test("cmp.vadd", "gpu", TestStatus::skip, 0);
    out.reason = "no_device";
    return out;
}

CellResult cell(std::string id, std::string verdict, CellOutcome outcome, Proof proof) {
    CellResult out;
    out.id = out.cell = std::move(id);
    out.verdict = std::move(verdict);
    out.outcome = outcome;
    out.proof = proof;
    return out;
}

CellResult passed_cell(const std::string& id) {
    auto out = cell(id, "accepted", CellOutcome::passed_without_gpu, Proof::loaded);
    out.fields = {{"driver", "550.54.15"}, {"gpu", "T4"}, {"cuda", "11.8.0"}, {"os", "debian12"}};
    out.image = "debian12-cu11.8.0";
    out.log = "logs/" + id + ".log";
    out.seconds = 12.34;
    out.tests = {test("env.vars", "", TestStatus::pass, 3), fatbin_test(), skipped_test()};
    return out;
}

RunReport heading() {
    RunReport out;
    out.matrix = "training";
    out.command = "run";
    out.engine = "docker";
    out.engine_why = "the daemon answers at the default socket";
    out.version = kTool.version;
    out.facts_date = kTool.facts_date;
    out.facts_hash = kTool.facts_hash;
    out.output = "cudamatrix-out/training";
    out.seconds = 321.5;
    ImageResult image;
    image.id = "debian12-cu11.8.0";
    image.reference = "cudamatrix/training:debian12-cu11.8.0";
    image.digest = "sha256:" + std::string(64, 'a');
    image.inputs = std::string(64, '1');
    image.proof_inputs = std::string(64, '2');
    image.runtime_bytes = 812'000'000;
    image.proof_bytes = 1'400'000'000;
    image.built = true;
    image.log = "logs/image-debian12-cu11.8.0.log";
    image.seconds = 184.06;
    out.images.push_back(image);
    return out;
}

CellResult rejected_cell() {
    auto out = cell("drv470.161.03-t4-cu12.4.1-debian12", "rejected", CellOutcome::skipped, Proof::none);
    out.reason = "driver 470.161.03 is too old for CUDA 12.4.1: CUDA 12 needs >= 525.60.13";
    out.findings = {"error: driver 470.161.03 is too old for CUDA 12.4.1 [driver-supports-cuda, at runtime]"};
    out.fixes = {"driver >= 525.60.13, or cuda 11.8.0 with this driver"};
    out.fields = {{"driver", "470.161.03"}, {"gpu", "T4"}, {"cuda", "12.4.1"}, {"os", "debian12"}};
    return out;
}

CellResult failed_cell() {
    auto out = passed_cell("drv550.54.15-h100-cu11.8.0-debian12");
    out.fields[1].second = "H100";
    out.outcome = CellOutcome::failed;
    out.proof = Proof::built;
    out.reason = "1 of 3 tests failed";
    auto& fatbin = out.tests[1];
    fatbin.status = TestStatus::fail;
    fatbin.reason = "not_covered";
    fatbin.fault = "F6";
    fatbin.summary = "no code in the image runs on compute capability 9.0";
    fatbin.hint = "build for sm_90";
    fatbin.evidence = "found 3 entries\nnone covers 9.0\n";
    fatbin.code_path.clear();
    return out;
}

}  // namespace

std::size_t times(std::string_view text, std::string_view part) {
    std::size_t number = 0;
    for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size()))
        ++number;
    return number;
}

Judged::Judged() {
    matrix.path = "matrix.yaml";
    matrix.name = "training";
    matrix.source = kSource;
    judgement.findings = {driver_too_old(), python_end_of_life()};
    judgement.rules = {{"end-of-life", {0, 1, 0, 0}, 0}, {"driver-supports-cuda", {1, 0, 0, 0}, 0}};
    const auto value = [](const char* text) { return Value{text, {}, {}}; };

    auto& old =
        add("drv470.161.03-py3.12", {{Field::driver, value("470.161.03")}, {Field::python, value("3.12")}},
            Verdict::rejected);
    old.findings = {0};
    old.stages[static_cast<std::size_t>(Stage::runtime)] = Verdict::rejected;
    old.not_checked = {"torch-supports-python: torch"};
    auto& ending =
        add("drv550.54.15-py3.9", {{Field::driver, value("550.54.15")}, {Field::python, value("3.9")}},
            Verdict::degraded);
    ending.findings = {1};
    ending.stages[static_cast<std::size_t>(Stage::install)] = Verdict::degraded;
    Value uses = value("THC,ptx-only");
    uses.items = {{"THC", ""}, {"ptx-only", ""}};
    Value packages = value("timm=0.6.13,");
    packages.items = {{"timm", "0.6.13"}};
    add("drv550.54.15-py3.12",
        {{Field::driver, value("550.54.15")},
         {Field::python, value("3.12")},
         {Field::uses, uses},
         {Field::packages, packages}},
        Verdict::accepted);
}

JudgedCell& Judged::add(const std::string& id, const std::vector<std::pair<Field, Value>>& fields,
                        Verdict verdict) {
    JudgedCell cell;
    cell.id = id;
    cell.verdict = verdict;
    for (const auto& [field, value] : fields)
        cell.cell.set(field, &values_.emplace_back(value));
    ++judgement.verdicts[static_cast<std::size_t>(verdict)];
    return judgement.cells.emplace_back(std::move(cell));
}

FindingGroup driver_too_old() {
    FindingGroup group;
    group.finding.severity = Severity::error;
    group.finding.stage = Stage::runtime;
    group.finding.rule = "driver-supports-cuda";
    group.finding.primary = Field::driver;
    group.finding.message = "driver 470.161.03 is too old for CUDA 12.4.1: CUDA 12 needs >= 525.60.13";
    group.finding.fixes = {{"driver >= 525.60.13", {{Field::driver, "525.60.13"}}},
                           {"cuda 11.8.0 with this driver", {{Field::cuda, "11.8.0"}}},
                           {"exclude: {driver: \"470.161.03\"}", {}, {{Field::driver, "470.161.03"}}}};
    group.finding.facts = {
        {"cuda-12-minimum-driver",
         {"https://docs.nvidia.com/deploy/cuda-compatibility/", "https://docs.nvidia.com/cuda/"},
         "2026-10-01",
         Confidence::read}};
    group.where = {"matrix.yaml", 4, 12, 12};
    group.cells = 1;
    group.first_cell = "drv470.161.03-py3.12";
    return group;
}

FindingGroup python_end_of_life() {
    FindingGroup group;
    group.finding.severity = Severity::warning;
    group.finding.stage = Stage::install;
    group.finding.rule = "end-of-life";
    group.finding.primary = Field::python;
    group.finding.message = "python 3.9 had its last release on 2025-10-31";
    group.finding.fixes = {{"python 3.12", {{Field::python, "3.12"}}}};
    group.finding.facts = {{"python-3.9", {}, "2026-11-21", Confidence::measured}};
    group.where = {"matrix.yaml", 5, 12, 5};
    group.cells = 1;
    group.first_cell = "drv550.54.15-py3.9";
    return group;
}

RunReport green_run() {
    auto out = heading();
    out.exit_code = 4;
    auto second = passed_cell("drv470.161.03-t4-cu11.8.0-debian12");
    second.verdict = "degraded";
    out.cells = {passed_cell("drv550.54.15-t4-cu11.8.0-debian12"), second, rejected_cell()};
    return out;
}

RunReport run() {
    auto out = green_run();
    out.exit_code = 1;
    out.cells.insert(out.cells.begin() + 2, failed_cell());
    ImageResult image;
    image.id = "debian13-cu12.4.1";
    image.error = "nvcc fatal   : Unsupported gpu architecture 'compute_999'";
    image.log = "logs/image-debian13-cu12.4.1.log";
    image.seconds = 9.5;
    out.images.push_back(image);
    auto unknown = cell("drv999.1-t4-cu11.8.0-debian12", "unknown", CellOutcome::skipped, Proof::none);
    unknown.reason = "driver 999.1 is not known";
    unknown.fields = {{"driver", "999.1"}};
    out.cells.push_back(unknown);
    auto unbuilt =
        cell("drv550.54.15-t4-cu12.4.1-debian13", "accepted", CellOutcome::errored, Proof::rendered);
    unbuilt.reason = "its image was not built";
    unbuilt.image = image.id;
    out.cells.push_back(unbuilt);
    return out;
}

const std::vector<std::string>& hostile_texts() {
    static const std::vector<std::string> texts{
        "\x1b[2J\x1b[31mPASS\x1b[0m",
        "\x1b]0;title\x07",
        "a]]>b<![CDATA[c]]>",
        "<failure/>&amp;\"'",
        "\xff\xfe\xc3(",
        std::string("nul\0here", 8),
        "\xe2\x80\xae"
        "evil",
        "line one\r\nline two\n::error::forged",
        "::set-output name=x::y",
        "100% sure: a,b",
        "\xef\xbf\xbe and \xef\xbf\xbf",
        "\xed\xa0\x80 surrogate",
        "\xc2\x9b"
        "31m",
        "\xf4\x90\x80\x80",
        std::string(100'000, 'x'),
        std::string(5'000, '\n'),
        "tail cut \xe2\x82",
        "\xe4\xb8\xad\xe6\x96\x87",
    };
    return texts;
}

std::string golden(std::string_view name) {
    const auto content =
        file::read(std::string(tests_dir()) + "/golden_reports/" + std::string(name), 1u << 20);
    REQUIRE_MESSAGE(content.ok(), "no golden file " << std::string(name));
    return content.value();
}

std::size_t widest_line(std::string_view text) {
    std::size_t widest = 0;
    for (const auto& line : text::split(text, '\n'))
        widest = std::max(widest, text::display_width(line));
    return widest;
}

bool terminal_safe(std::string_view text) {
    const auto lines = text::split(text, '\n');
    return std::all_of(lines.begin(), lines.end(),
                       [](const std::string& line) { return text::printable(line) == line; });
}

}  // namespace fixtures
