#include "base/json.hpp"
#include "report/cell_json.hpp"
#include "report/json_document.hpp"
#include "report/suggest_report.hpp"

namespace cudamatrix::report {
namespace {

Json stack_json(const solve::Stack& stack) {
    auto limits = Json::array();
    for (const auto& limit : stack.limits)
        limits.push_back(finding_json(limit));
    return Json{{"verdict", to_string(stack.verdict)},
                {"fields", fields_json(stack.cell())},
                {"limits", std::move(limits)},
                {"row", stack.row}};
}

Json clash_json(const solve::Clash& clash) {
    auto reasons = Json::array();
    for (const auto& reason : clash.reasons) {
        reasons.push_back(Json{{"rule", reason.rule},
                               {"closed", reason.closed},
                               {"example", finding_json(reason.example)},
                               {"facts", facts_json(reason.facts)}});
    }
    return Json{{"demands", clash.demands}, {"reasons", std::move(reasons)}};
}

}  // namespace

std::string suggest_json(const SuggestReport& report) {
    const auto& suggestion = report.suggestion;
    JsonDocument document(report.tool);
    document.member("demands", suggestion.demands);
    document.member("searched", suggestion.free);
    document.begin_array("stacks");
    for (const auto& stack : suggestion.stacks)
        document.element(stack_json(stack));
    document.end_array();
    document.begin_array("conflicts");
    for (const auto& clash : suggestion.clashes)
        document.element(clash_json(clash));
    document.end_array();
    document.member("all_conflicts", suggestion.all_clashes);
    document.begin_array("relaxations");
    for (const auto& remedy : suggestion.remedies)
        document.element(Json{{"changes", remedy.changes}, {"stack", stack_json(remedy.stack)}});
    document.end_array();
    document.member("all_relaxations", suggestion.all_remedies);
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
