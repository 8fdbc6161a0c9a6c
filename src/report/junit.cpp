#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "report/layout.hpp"
#include "report/results.hpp"
#include "report/run_reports.hpp"

namespace cudamatrix::report {
namespace {

struct Suite {
    std::string name;
    double seconds = 0;
    std::vector<std::pair<std::string, std::string>> properties;
    std::string cases;
    std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
};

enum class Kind { pass, skip, fail, error };

Kind kind_of(TestStatus status) {
    if (!is_failure(status)) return status == TestStatus::pass ? Kind::pass : Kind::skip;
    return status == TestStatus::fail ? Kind::fail : Kind::error;
}

struct Case {
    std::string classname;
    std::string name;
    double seconds = 0;
    Kind kind = Kind::pass;
    std::string type;  // of a failure or an error
    std::string message;
    std::string details;  // hint and output
};

void add_case(Suite& suite, const Case& test) {
    ++suite.tests;
    auto& out = suite.cases;
    const xml::Attributes head{{"classname", test.classname},
                               {"name", test.name},
                               {"time", fmt::format("{:.3f}", finite_seconds(test.seconds))}};
    if (test.kind == Kind::pass) {
        out += "    " + xml::tag("testcase", head, true) + "\n";
        return;
    }
    out += "    " + xml::tag("testcase", head) + "\n";
    if (test.kind == Kind::skip) {
        ++suite.skipped;
        out += "      " + xml::tag("skipped", {{"message", test.message}}, true) + "\n";
    } else {
        ++(test.kind == Kind::fail ? suite.failures : suite.errors);
        const std::string_view element = test.kind == Kind::fail ? "failure" : "error";
        const xml::Attributes why{{"type", test.type}, {"message", test.message}};
        out += "      " + xml::tag(element, why, test.details.empty());
        if (!test.details.empty()) out += xml::cdata(test.details) + fmt::format("</{}>", element);
        out += "\n";
    }
    out += "    </testcase>\n";
}

// "tc.wgmma" belongs to group "tc".
std::string group_of(const std::string& id) {
    return id.substr(0, id.find('.'));
}

Case case_of(const CellResult& cell, const TestResult& test) {
    Case out;
    out.classname = cell.id + "." + group_of(test.id);
    out.name = test.part.empty() ? test.id : test.id + "[" + test.part + "]";
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
    return out;
}

// "sass 7.5", "sass 8.0", "ptx 9.0@8.4" -> static.fatbin.sass = "7.5, 8.0", static.fatbin.ptx = "9.0@8.4".
// What is not of that form comes whole under ".code".
void add_code_properties(Suite& suite, const TestResult& test) {
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

void add_properties(Suite& suite, const ImagesById& images, const CellResult& cell) {
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
    for (const auto& test : cell.tests)
        add_code_properties(suite, test);
}

// The cell itself as a test case, where its tests do not say all about it.
void add_cell_case(Suite& suite, const CellResult& cell) {
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
    if (red && suite.failures + suite.errors != 0) return;
    whole.details = text::join(cell.findings, "\n");
    add_case(suite, whole);
}

Suite suite_of(const ImagesById& images, const CellResult& cell) {
    Suite suite;
    suite.name = cell.id;
    suite.seconds = cell.seconds;
    add_properties(suite, images, cell);
    for (const auto& test : cell.tests)
        add_case(suite, case_of(cell, test));
    add_cell_case(suite, cell);
    return suite;
}

Suite suite_of_images(const RunReport& report) {
    Suite suite;
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
        add_case(suite, build);
    }
    return suite;
}

std::string counts_and_time(std::string_view name, const Suite& suite, const std::string& title) {
    return xml::tag(name, {{"name", title},
                           {"tests", std::to_string(suite.tests)},
                           {"failures", std::to_string(suite.failures)},
                           {"errors", std::to_string(suite.errors)},
                           {"skipped", std::to_string(suite.skipped)},
                           {"time", fmt::format("{:.3f}", finite_seconds(suite.seconds))}});
}

std::string text_of(const Suite& suite) {
    std::string out = "  " + counts_and_time("testsuite", suite, suite.name) + "\n";
    if (!suite.properties.empty()) {
        out += "    <properties>\n";
        for (const auto& [name, value] : suite.properties) {
            out += "      " + xml::tag("property", {{"name", name}, {"value", value}}, true) + "\n";
        }
        out += "    </properties>\n";
    }
    return out + suite.cases + "  </testsuite>\n";
}

}  // namespace

std::string junit(const RunReport& report) {
    Suite sums;
    sums.seconds = report.seconds;
    std::string body;
    const auto add = [&](const Suite& suite) {
        sums.tests += suite.tests;
        sums.failures += suite.failures;
        sums.errors += suite.errors;
        sums.skipped += suite.skipped;
        body += text_of(suite);
    };
    if (!report.images.empty()) add(suite_of_images(report));
    const ImagesById images(report);
    for (const auto& cell : report.cells)
        add(suite_of(images, cell));
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
           counts_and_time("testsuites", sums, "cudamatrix " + report.matrix) + "\n" + body +
           "</testsuites>\n";
}

}  // namespace cudamatrix::report
