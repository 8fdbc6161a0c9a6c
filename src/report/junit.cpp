#include <string>
#include <vector>

#include "base/text.hpp"
#include "report/cases.hpp"
#include "report/layout.hpp"
#include "report/results.hpp"

namespace cudamatrix::report {
namespace {

std::string case_text(const Case& test) {
    const xml::Attributes head{{"classname", test.classname},
                               {"name", test.name},
                               {"time", fmt::format("{:.3f}", finite_seconds(test.seconds))}};
    if (test.kind == CaseKind::pass) return "    " + xml::tag("testcase", head, true) + "\n";
    auto out = "    " + xml::tag("testcase", head) + "\n";
    if (test.kind == CaseKind::skip) {
        out += "      " + xml::tag("skipped", {{"message", test.message}}, true) + "\n";
    } else {
        const std::string_view element = test.kind == CaseKind::fail ? "failure" : "error";
        const xml::Attributes why{{"type", test.type}, {"message", test.message}};
        out += "      " + xml::tag(element, why, test.details.empty());
        if (!test.details.empty()) out += xml::cdata(test.details) + fmt::format("</{}>", element);
        out += "\n";
    }
    return out + "    </testcase>\n";
}

std::string counts_and_time(std::string_view name, const std::vector<CaseSuite>& suites,
                            const std::string& title, double seconds) {
    std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
    for (const auto& suite : suites) {
        tests += suite.cases.size();
        failures += suite.count(CaseKind::fail);
        errors += suite.count(CaseKind::error);
        skipped += suite.count(CaseKind::skip);
    }
    return xml::tag(name, {{"name", title},
                           {"tests", std::to_string(tests)},
                           {"failures", std::to_string(failures)},
                           {"errors", std::to_string(errors)},
                           {"skipped", std::to_string(skipped)},
                           {"time", fmt::format("{:.3f}", finite_seconds(seconds))}});
}

std::string suite_text(const CaseSuite& suite) {
    auto out = "  " + counts_and_time("testsuite", {suite}, suite.name, suite.seconds) + "\n";
    if (!suite.properties.empty()) {
        out += "    <properties>\n";
        for (const auto& [name, value] : suite.properties) {
            out += "      " + xml::tag("property", {{"name", name}, {"value", value}}, true) + "\n";
        }
        out += "    </properties>\n";
    }
    for (const auto& test : suite.cases)
        out += case_text(test);
    return out + "  </testsuite>\n";
}

}  // namespace

std::string junit_text(const CaseReport& report) {
    auto out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
               counts_and_time("testsuites", report.suites, report.title, report.seconds) + "\n";
    for (const auto& suite : report.suites)
        out += suite_text(suite);
    return out + "</testsuites>\n";
}

}  // namespace cudamatrix::report
