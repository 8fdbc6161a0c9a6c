#include <algorithm>
#include <array>

#include "base/json.hpp"
#include "base/text.hpp"
#include "report/cases.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"
#include "report/results.hpp"
#include "report/run_reports.hpp"

namespace cudamatrix {

std::string_view to_string(RejectionOutcome outcome) {
    return std::array{"proven", "refuted", "inconclusive",
                      "not-attempted"}[static_cast<std::size_t>(outcome)];
}

std::size_t RejectionReport::count(RejectionOutcome outcome) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        rejections, [&](const Rejection& rejection) { return rejection.outcome == outcome; }));
}

namespace report {
namespace {

constexpr std::size_t kRejectionLines = 8;

Colour colour_of_outcome(RejectionOutcome outcome) {
    return std::array{Colour::green, Colour::red, Colour::magenta,
                      Colour::yellow}[static_cast<std::size_t>(outcome)];
}

std::string line(std::string_view label, std::string_view text, std::size_t width) {
    if (text.empty()) return {};
    return wrapped(fmt::format("{}: {}", label, text), 4, width, kRejectionLines);
}

std::string cell_list(const std::vector<std::string>& cells) {
    if (cells.empty()) return {};
    return cells.size() == 1 ? cells.front() : fmt::format("{} cells, first {}", cells.size(), cells.front());
}

std::string rejection_text(const Rejection& rejection, const TextOptions& options) {
    const auto word = to_string(rejection.outcome);
    const auto rule =
        clipped(fmt::format("{} [at {}]", rejection.rule, rejection.stage), options.width - word.size() - 4);
    auto out =
        fmt::format("  {}  {}\n", coloured(word, colour_of_outcome(rejection.outcome), options.colour), rule);
    if (rejection.outcome == RejectionOutcome::refuted) {
        out += line("error", "this works after all, but the rule rejects it", options.width);
    } else {
        out += line("why", rejection.reason, options.width);
    }
    out += line("predicted", rejection.predicted, options.width);
    out += line("attempt", rejection.attempt, options.width);
    out += line("seen", rejection.seen, options.width);
    out += line(rejection.outcome == RejectionOutcome::proven ? "control passed" : "control",
                rejection.control, options.width);
    out += line("cells", cell_list(rejection.cells), options.width);
    out += line("log", rejection.log, options.width);
    return out;
}

std::string closing(const RejectionReport& report) {
    if (report.rejections.empty()) return "no cell is rejected: nothing to prove\n";
    return fmt::format("{}: {} proven, {} refuted, {} inconclusive, {} not attempted ({:.1f} s)\n",
                       text::count(report.rejections.size(), "rejection"),
                       report.count(RejectionOutcome::proven), report.count(RejectionOutcome::refuted),
                       report.count(RejectionOutcome::inconclusive),
                       report.count(RejectionOutcome::not_attempted), finite_seconds(report.seconds));
}

}  // namespace

std::string rejections_text(const RejectionReport& report, const TextOptions& wanted) {
    TextOptions options = wanted;
    options.width = std::max<std::size_t>(options.width, 40);
    auto out = clipped(fmt::format("rejections of {}{}", report.matrix,
                                   report.where.empty() ? "" : " where " + report.where),
                       options.width) +
               "\n";
    if (!report.engine.empty()) {
        out += wrapped(fmt::format("engine {}: {}", report.engine, report.engine_why), 0, options.width, 2);
    }
    out += "\n";
    constexpr std::array order{RejectionOutcome::refuted, RejectionOutcome::inconclusive,
                               RejectionOutcome::proven, RejectionOutcome::not_attempted};
    for (const auto outcome : order) {
        for (const auto& rejection : report.rejections) {
            if (rejection.outcome == outcome) out += rejection_text(rejection, options);
        }
    }
    if (!report.rejections.empty()) out += "\n";
    out += closing(report);
    if (!report.output.empty()) out += "output: " + text::printable(report.output) + "\n";
    return out;
}

namespace {

Json rejection_json(const Rejection& rejection) {
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
    document.array("rejections", report.rejections, rejection_json);
    return std::move(document).finish();
}

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

CaseKind kind_of(RejectionOutcome outcome) {
    switch (outcome) {
        case RejectionOutcome::proven:
            return CaseKind::pass;
        case RejectionOutcome::refuted:
            return CaseKind::fail;
        case RejectionOutcome::inconclusive:
            return CaseKind::error;
        case RejectionOutcome::not_attempted:
            break;
    }
    return CaseKind::skip;
}

}  // namespace

CaseReport cases_of(const RejectionReport& report) {
    CaseSuite suite{"rejections", report.seconds, {}, {}};
    for (const auto& rejection : report.rejections) {
        suite.cases.push_back({rejection.stage + "." + rejection.rule, rejection.predicted, rejection.seconds,
                               kind_of(rejection.outcome), std::string(to_string(rejection.outcome)),
                               rejection.reason, details(rejection)});
    }
    return {"cudamatrix " + report.matrix, report.seconds, {std::move(suite)}};
}

}  // namespace report
}  // namespace cudamatrix
