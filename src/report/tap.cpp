#include <algorithm>
#include <string>

#include "base/json.hpp"
#include "base/text.hpp"
#include "report/cases.hpp"
#include "report/json.hpp"

namespace cudamatrix::report {
namespace {

// Of one line, where a # would begin a directive.
std::string description(std::string_view text) {
    auto out = text::replace_all(text::printable(text), "\\", "\\\\");
    return text::replace_all(out, "#", "\\#");
}

std::string point(bool ok, std::size_t number, std::string_view name, std::string_view skipped) {
    auto out = fmt::format("{} {} - {}", ok ? "ok" : "not ok", number, description(name));
    if (!skipped.empty()) out += " # SKIP " + description(skipped);
    return out + "\n";
}

bool is_red(CaseKind kind) {
    return kind == CaseKind::fail || kind == CaseKind::error;
}

// JSON is YAML, too. Of what is not red there is something to say where a GPU's speed was measured.
std::string diagnosis(const Case& test) {
    const auto metrics =
        test.metrics.empty()
            ? std::string()
            : fmt::format("      metrics: {}\n", to_text(json_list(test.metrics, metric_json), false));
    if (!is_red(test.kind)) return metrics.empty() ? metrics : "      ---\n" + metrics + "      ...\n";
    std::string out = "      ---\n";
    out += fmt::format("      severity: {}\n", test.kind == CaseKind::fail ? "fail" : "error");
    const std::pair<std::string_view, const std::string*> rows[] = {
        {"type", &test.type}, {"message", &test.message}, {"details", &test.details}};
    for (const auto& [name, value] : rows) {
        if (!value->empty()) out += fmt::format("      {}: {}\n", name, to_text(Json(*value), false));
    }
    return out + metrics + "      ...\n";
}

std::string skipped_text(const CaseSuite& suite) {
    if (suite.cases.empty()) return "nothing was tested";
    if (suite.count(CaseKind::skip) != suite.cases.size()) return {};
    return suite.cases.size() == 1 ? suite.cases.front().message : "everything in it was skipped";
}

}  // namespace

std::string tap_text(const CaseReport& report) {
    const auto& suites = report.suites;
    auto out = fmt::format("TAP version 14\n1..{}\n", suites.size());
    for (std::size_t i = 0; i < suites.size(); ++i) {
        const auto& suite = suites[i];
        out += fmt::format("# Subtest: {}\n    1..{}\n", description(suite.name), suite.cases.size());
        for (std::size_t j = 0; j < suite.cases.size(); ++j) {
            const auto& test = suite.cases[j];
            out += "    " + point(!is_red(test.kind), j + 1, test.name,
                                  test.kind == CaseKind::skip ? test.message : std::string_view());
            out += diagnosis(test);
        }
        const bool red = std::ranges::any_of(suite.cases, [](const Case& test) { return is_red(test.kind); });
        out += point(!red, i + 1, suite.name, skipped_text(suite));
    }
    return out;
}

}  // namespace cudamatrix::report
