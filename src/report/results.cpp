#include "report/results.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "base/text.hpp"

namespace cudamatrix {

std::string_view to_string(Proof proof) {
    static constexpr std::array<std::string_view, 5> names{"none", "rendered", "built", "loaded", "ran"};
    return names.at(static_cast<std::size_t>(proof));
}

std::string_view to_string(TestStatus status) {
    static constexpr std::array<std::string_view, 6> names{"pass",  "fail",    "skip",
                                                           "error", "timeout", "crash"};
    return names.at(static_cast<std::size_t>(status));
}

std::string_view to_string(CellOutcome outcome) {
    static constexpr std::array<std::string_view, 6> names{"skipped",       "planned", "passed",
                                                           "passed_static", "failed",  "errored"};
    return names.at(static_cast<std::size_t>(outcome));
}

namespace report {
namespace {

RunResult result_of(const RunReport& report, const RunTotals& sums) {
    if (sums.by(CellOutcome::failed) + sums.by(CellOutcome::errored) + sums.failed_images > 0)
        return RunResult::fail;
    if (sums.attempted == 0) return RunResult::nothing;
    if (sums.by(CellOutcome::planned) == sums.attempted) {
        return std::ranges::any_of(report.images, [](const ImageResult& i) { return i.built; })
                   ? RunResult::built
                   : RunResult::rendered;
    }
    if (sums.by(CellOutcome::planned) != 0) return RunResult::incomplete;
    // Without a GPU nothing may be called pass, whatever the lines of the suite claim.
    return report.gpu && sums.by(CellOutcome::passed) == sums.attempted ? RunResult::pass
                                                                        : RunResult::pass_static;
}

}  // namespace

std::string_view to_string(RunResult result) {
    static constexpr std::array<std::string_view, 7> names{"pass",     "pass-static", "fail",   "built",
                                                           "rendered", "incomplete",  "nothing"};
    return names.at(static_cast<std::size_t>(result));
}

RunTotals totals(const RunReport& report) {
    RunTotals sums;
    for (const auto& cell : report.cells) {
        ++sums.outcomes.at(static_cast<std::size_t>(cell.outcome));
        if (cell.outcome != CellOutcome::skipped) ++sums.attempted;
        if (cell.outcome != CellOutcome::skipped && cell.again) ++sums.again;
        if (cell.again) continue;
        ++sums.cells;
        if (cell.verdict == "accepted") ++sums.accepted;
        if (cell.verdict == "degraded") ++sums.degraded;
        if (cell.verdict == "rejected") ++sums.rejected;
        if (cell.verdict == "unknown") ++sums.unknown;
        if (cell.outcome == CellOutcome::skipped &&
            (cell.verdict == "accepted" || cell.verdict == "degraded"))
            ++sums.not_rendered;
    }
    sums.failed_images = static_cast<std::size_t>(
        std::ranges::count_if(report.images, [](const ImageResult& image) { return !image.error.empty(); }));
    sums.result = result_of(report, sums);
    return sums;
}

std::string closing_line(const RunReport& report) {
    const auto sums = totals(report);
    const auto attempted = sums.again == 0 ? text::count(sums.attempted, "cell")
                                           : fmt::format("{} for {}", text::count(sums.attempted, "image"),
                                                         text::count(sums.attempted - sums.again, "cell"));
    const auto passed = sums.by(CellOutcome::passed);
    std::string what;
    switch (sums.result) {
        case RunResult::pass:
            what = attempted + " proved on a GPU";
            break;
        case RunResult::pass_static:
            what = attempted + " proved as far as possible without a GPU";
            if (report.gpu && passed != 0) {
                what = fmt::format("{} proved on a GPU, {} as far as possible without one",
                                   text::count(passed, sums.again == 0 ? "cell" : "image"),
                                   sums.attempted - passed);
            }
            break;
        case RunResult::fail:
            what = fmt::format("{} of {} failed",
                               sums.by(CellOutcome::failed) + sums.by(CellOutcome::errored), attempted);
            if (sums.failed_images != 0)
                what += fmt::format(", {} not built", text::count(sums.failed_images, "image"));
            break;
        case RunResult::built:
        case RunResult::rendered:
            what = fmt::format("{} in {}", attempted, text::count(report.images.size(), "image"));
            break;
        case RunResult::incomplete:
            what = fmt::format("{} of {} proved", sums.attempted - sums.by(CellOutcome::planned), attempted);
            break;
        case RunResult::nothing:
            what = "no cell attempted";
            break;
    }
    auto line = fmt::format("{}: {}, {} rejected, {} unknown", to_string(sums.result), what, sums.rejected,
                            sums.unknown);
    if (sums.not_rendered != 0) line += fmt::format(", {} not rendered", sums.not_rendered);
    return line;
}

bool is_failure(TestStatus status) {
    return status != TestStatus::pass && status != TestStatus::skip;
}

ImagesById::ImagesById(const RunReport& report) {
    for (const auto& image : report.images)
        images_.emplace(image.id, &image);
}

const ImageResult* ImagesById::of(const CellResult& cell) const {
    const auto found = images_.find(cell.image);
    return cell.image.empty() || found == images_.end() ? nullptr : found->second;
}

double finite_seconds(double seconds) {
    return std::isfinite(seconds) && seconds > 0 ? seconds : 0;
}

}  // namespace report
}  // namespace cudamatrix
