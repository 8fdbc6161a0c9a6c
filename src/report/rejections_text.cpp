#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "report/layout.hpp"
#include "report/rejections.hpp"
#include "report/run_totals.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kLines = 8;

Colour colour_of_outcome(RejectionOutcome outcome) {
    switch (outcome) {
        case RejectionOutcome::proven:
            return Colour::green;
        case RejectionOutcome::refuted:
            return Colour::red;
        case RejectionOutcome::inconclusive:
            return Colour::magenta;
        case RejectionOutcome::not_attempted:
            break;
    }
    return Colour::yellow;
}

std::string line(std::string_view label, std::string_view text, std::size_t width) {
    if (text.empty()) return {};
    return wrapped(fmt::format("{}: {}", label, text), 4, width, kLines);
}

std::string cells_text(const std::vector<std::string>& cells) {
    if (cells.empty()) return {};
    return cells.size() == 1 ? cells.front() : fmt::format("{} cells, first {}", cells.size(), cells.front());
}

std::string one(const Rejection& rejection, const TextOptions& options) {
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
    out += line("cells", cells_text(rejection.cells), options.width);
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
            if (rejection.outcome == outcome) out += one(rejection, options);
        }
    }
    if (!report.rejections.empty()) out += "\n";
    out += closing(report);
    if (!report.output.empty()) out += "output: " + text::printable(report.output) + "\n";
    return out;
}

}  // namespace cudamatrix::report
