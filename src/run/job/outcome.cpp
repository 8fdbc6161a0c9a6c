#include "run/job/outcome.hpp"

#include <algorithm>

namespace cudamatrix::job {

ExitCode exit_code_of(const RunReport& report, const RunSettings& settings) {
    if (settings.cancellation != nullptr && settings.cancellation->requested()) return ExitCode::interrupted;
    if (std::any_of(report.images.begin(), report.images.end(),
                    [](const ImageResult& image) { return image.not_run; }))
        return ExitCode::environment;
    const auto any = [&](auto... outcomes) {
        return std::any_of(report.cells.begin(), report.cells.end(),
                           [&](const CellResult& cell) { return ((cell.outcome == outcomes) || ...); });
    };
    const bool attempted = any(CellOutcome::planned, CellOutcome::passed, CellOutcome::passed_static,
                               CellOutcome::failed, CellOutcome::errored);
    const bool red = any(CellOutcome::failed, CellOutcome::errored) ||
                     std::any_of(report.images.begin(), report.images.end(),
                                 [](const ImageResult& image) { return !image.error.empty(); });
    if (!attempted || red) return ExitCode::findings;
    if (settings.strict && any(CellOutcome::skipped)) return ExitCode::findings;
    // A cell that was to be proved and is still only planned was not reached.
    const bool proving = report.command == "test" || report.command == "run";
    if (proving && any(CellOutcome::planned)) return ExitCode::findings;
    if (any(CellOutcome::passed_static))
        return settings.require_gpu ? ExitCode::findings : ExitCode::pass_static;
    return ExitCode::success;
}

}  // namespace cudamatrix::job
