#include "base/text.hpp"
#include "report/rejections.hpp"
#include "report/run_totals.hpp"
#include "report/xml.hpp"

namespace cudamatrix::report {
namespace {

std::string details(const Rejection& rejection) {
    std::string out;
    for (const auto& [label, text] :
         {std::pair{"predicted", &rejection.predicted}, std::pair{"attempt", &rejection.attempt},
          std::pair{"seen", &rejection.seen}, std::pair{"control", &rejection.control},
          std::pair{"log", &rejection.log}}) {
        if (!text->empty()) out += fmt::format("{}: {}\n", label, *text);
    }
    return out;
}

std::string one(const Rejection& rejection) {
    const xml::Attributes head{{"classname", rejection.stage + "." + rejection.rule},
                               {"name", rejection.predicted},
                               {"time", fmt::format("{:.3f}", finite_seconds(rejection.seconds))}};
    if (rejection.outcome == RejectionOutcome::proven)
        return "    " + xml::tag("testcase", head, true) + "\n";
    auto out = "    " + xml::tag("testcase", head) + "\n      ";
    if (rejection.outcome == RejectionOutcome::not_attempted) {
        out += xml::tag("skipped", {{"message", rejection.reason}}, true);
    } else {
        const std::string_view element = rejection.outcome == RejectionOutcome::refuted ? "failure" : "error";
        out += xml::tag(element,
                        {{"type", std::string(to_string(rejection.outcome))}, {"message", rejection.reason}});
        out += xml::cdata(details(rejection)) + fmt::format("</{}>", element);
    }
    return out + "\n    </testcase>\n";
}

}  // namespace

std::string rejections_junit(const RejectionReport& report) {
    const auto tag = [&](std::string_view element, const std::string& name) {
        return xml::tag(element, {{"name", name},
                                  {"tests", std::to_string(report.rejections.size())},
                                  {"failures", std::to_string(report.count(RejectionOutcome::refuted))},
                                  {"errors", std::to_string(report.count(RejectionOutcome::inconclusive))},
                                  {"skipped", std::to_string(report.count(RejectionOutcome::not_attempted))},
                                  {"time", fmt::format("{:.3f}", finite_seconds(report.seconds))}}) +
               "\n";
    };
    auto out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
               tag("testsuites", "cudamatrix " + report.matrix) + "  " + tag("testsuite", "rejections");
    for (const auto& rejection : report.rejections)
        out += one(rejection);
    return out + "  </testsuite>\n</testsuites>\n";
}

}  // namespace cudamatrix::report
