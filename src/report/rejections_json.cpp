#include "base/json.hpp"
#include "report/json_document.hpp"
#include "report/rejections.hpp"
#include "report/run_totals.hpp"

namespace cudamatrix::report {
namespace {

Json one(const Rejection& rejection) {
    auto fields = Json::object();
    for (const auto& [name, text] : rejection.fields)
        fields[name] = text;
    return Json{{"rule", rejection.rule},
                {"stage", rejection.stage},
                {"outcome", to_string(rejection.outcome)},
                {"predicted", rejection.predicted},
                {"fields", std::move(fields)},
                {"attempt", rejection.attempt},
                {"seen", rejection.seen},
                {"control", rejection.control},
                {"reason", rejection.reason},
                {"seconds", finite_seconds(rejection.seconds)},
                {"log", rejection.log},
                {"cells", rejection.cells}};
}

}  // namespace

std::string rejections_json(const RejectionReport& report) {
    JsonDocument document(ToolInfo{report.version, report.facts_date, report.facts_hash});
    document.member("matrix", Json{{"name", report.matrix}});
    document.member("command", "test --prove-rejected");
    document.member("where", report.where);
    document.member("engine", Json{{"name", report.engine}, {"why", report.engine_why}});
    document.member("exit_code", report.exit_code);
    document.member("seconds", finite_seconds(report.seconds));
    document.member("output", report.output);
    auto outcomes = Json::object();
    for (const auto outcome : {RejectionOutcome::proven, RejectionOutcome::refuted,
                               RejectionOutcome::inconclusive, RejectionOutcome::not_attempted}) {
        outcomes[std::string(to_string(outcome))] = report.count(outcome);
    }
    document.member("outcomes", outcomes);
    document.begin_array("rejections");
    for (const auto& rejection : report.rejections)
        document.element(one(rejection));
    document.end_array();
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
