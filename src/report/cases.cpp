#include "report/cases.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cudamatrix::report {
namespace {

using Kind = CaseKind;

Kind kind_of(TestStatus status) {
    if (!is_failure(status)) return status == TestStatus::pass ? Kind::pass : Kind::skip;
    return status == TestStatus::fail ? Kind::fail : Kind::error;
}

// "tc.wgmma" belongs to group "tc".
std::string group_of(const std::string& id) {
    return id.substr(0, id.find('.'));
}

Case case_of(const CellResult& cell, const TestResult& test) {
    Case out;
    out.classname = cell.id + "." + group_of(test.id);
    out.name = test_name(test);
    out.seconds = test.milliseconds / 1000;
    out.kind = kind_of(test.status);
    out.type = test.fault.empty() ? std::string(to_string(test.status)) : test.fault;
    std::vector<std::string> message;
    if (test.status == TestStatus::timeout || test.status == TestStatus::crash)
        message.emplace_back(to_string(test.status));
    if (!test.reason.empty()) message.push_back(test.reason);
    if (!test.summary.empty()) message.push_back(test.summary);
    out.message = text::join(message, ": ");
    if (!test.hint.empty()) out.details = "hint: " + test.hint + "\n";
    out.details += test.evidence;
    out.metrics = test.metrics;
    return out;
}

// "sass 7.5", "sass 8.0", "ptx 9.0@8.4" -> static.fatbin.sass = "7.5, 8.0", static.fatbin.ptx = "9.0@8.4".
// What is not of that form comes whole under ".code".
void add_code_properties(CaseSuite& suite, const TestResult& test) {
    const auto add = [&](const std::string& name, const std::string& value) {
        auto found = std::ranges::find_if(suite.properties,
                                          [&](const auto& property) { return property.first == name; });
        if (found == suite.properties.end()) {
            suite.properties.emplace_back(name, value);
        } else {
            found->second += ", " + value;
        }
    };
    for (const auto& code : test.fatbin) {
        const auto blank = code.find(' ');
        const auto kind = code.substr(0, blank);
        const bool known = blank != std::string::npos && (kind == "sass" || kind == "ptx");
        add(test.id + (known ? "." + kind : ".code"), known ? code.substr(blank + 1) : code);
    }
    if (!test.code_path.empty()) add(test.id + ".code_path", test.code_path);
}

// mem.copy.copy = "2710.5 GB/s", mem.copy.copy.ratio = "0.98 of cudaMemcpy (2766 GB/s), goal 0.97".
void add_metric_properties(CaseSuite& suite, const TestResult& test) {
    for (const auto& metric : test.metrics) {
        const auto name = test.id + "." + metric.name;
        suite.properties.emplace_back(name, fmt::format("{:.6g} {}", metric.value, metric.unit));
        suite.properties.emplace_back(name + ".rsd", fmt::format("{:.3g} in {}", metric.rsd, metric.n));
        if (metric.roof.empty()) continue;
        auto ratio = fmt::format("{:.3g} of {} ({:.6g} {})", metric.ratio, metric.roof, metric.roof_value,
                                 metric.unit);
        if (metric.goal > 0) ratio += fmt::format(", goal {:.3g}", metric.goal);
        suite.properties.emplace_back(name + ".ratio", std::move(ratio));
    }
}

void add_properties(CaseSuite& suite, const ImagesById& images, const CellResult& cell) {
    const auto add = [&](std::string_view name, const std::string& value) {
        if (!value.empty()) suite.properties.emplace_back(name, value);
    };
    for (const auto& [name, value] : cell.fields)
        add("cell." + name, value);
    add("verdict", cell.verdict);
    add("outcome", std::string(to_string(cell.outcome)));
    add("proof", std::string(to_string(cell.proof)));
    add("image", cell.image);
    if (const auto* image = images.of(cell)) {
        add("image.digest", image->digest);
        if (image->runtime_bytes != 0) add("image.runtime_bytes", std::to_string(image->runtime_bytes));
    }
    add("log", cell.log);
    for (const auto& finding : cell.findings)
        add("finding", finding);
    for (const auto& test : cell.tests) {
        add_code_properties(suite, test);
        add_metric_properties(suite, test);
    }
}

// The cell itself as a test case, where its tests do not say all about it.
void add_cell_case(CaseSuite& suite, const CellResult& cell) {
    Case whole;
    whole.classname = cell.id + ".cell";
    whole.name = "cell";
    whole.type = to_string(cell.outcome);
    whole.message = cell.reason.empty() ? std::string(to_string(cell.outcome)) : cell.reason;
    switch (cell.outcome) {
        case CellOutcome::skipped:
            whole.kind = Kind::skip;
            whole.message = cell.verdict + (cell.reason.empty() ? "" : ": " + cell.reason);
            break;
        case CellOutcome::planned:
            whole.kind = Kind::skip;
            whole.message = fmt::format("not tested, {}", to_string(cell.proof));
            break;
        case CellOutcome::failed:
            whole.kind = Kind::fail;
            break;
        case CellOutcome::errored:
            whole.kind = Kind::error;
            break;
        case CellOutcome::passed:
        case CellOutcome::passed_without_gpu:
            return;
    }
    const bool red = whole.kind == Kind::fail || whole.kind == Kind::error;
    if (red && suite.count(Kind::fail) + suite.count(Kind::error) != 0) return;
    whole.details = text::join(cell.findings, "\n");
    suite.cases.push_back(std::move(whole));
}

CaseSuite suite_of(const ImagesById& images, const CellResult& cell) {
    CaseSuite suite;
    suite.name = cell.id;
    suite.seconds = cell.seconds;
    add_properties(suite, images, cell);
    for (const auto& test : cell.tests)
        suite.cases.push_back(case_of(cell, test));
    add_cell_case(suite, cell);
    return suite;
}

CaseSuite suite_of_images(const RunReport& report) {
    CaseSuite suite;
    suite.name = "images";
    for (const auto& image : report.images) {
        Case build{"images", image.id, image.seconds, Kind::pass, "build", image.error, {}};
        if (!image.error.empty()) {
            build.kind = Kind::error;
            build.details = image.log.empty() ? "" : "log: " + image.log;
        } else if (!image.built && !image.reused) {
            build.kind = Kind::skip;
            build.message = "not built";
        }
        suite.seconds += finite_seconds(image.seconds);
        suite.cases.push_back(std::move(build));
    }
    return suite;
}

}  // namespace

std::size_t CaseSuite::count(CaseKind kind) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(cases, [&](const Case& one) { return one.kind == kind; }));
}

CaseReport cases_of(const RunReport& report) {
    CaseReport out{"cudamatrix " + report.matrix, report.seconds, {}};
    if (!report.images.empty()) out.suites.push_back(suite_of_images(report));
    const ImagesById images(report);
    for (const auto& cell : report.cells)
        out.suites.push_back(suite_of(images, cell));
    return out;
}

}  // namespace cudamatrix::report
