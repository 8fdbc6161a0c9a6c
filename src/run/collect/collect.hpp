// The results of many machines as one report: those of `run --only`, and what the suite printed where
// something else started it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/result.hpp"
#include "report/results.hpp"
#include "run/job/job.hpp"

namespace cudamatrix::collect {

struct Collected {
    RunReport report;  ///< every cell of the plan, with what a machine answered; exit_code by the settings
    std::vector<std::string> unanswered;  ///< see below
    std::vector<Diagnostic> notes;        ///< what the report does not show
    std::size_t reports = 0;              ///< files
    std::size_t logs = 0;                 ///< files
};

/// Reads `paths`, files and folders, against `plan` (make_plan's, of command "test"; its chosen cells are
/// those that are to be answered). A folder is walked for report.json, and for *.jsonl, *.log, *.txt and
/// *.out that hold lines of the suite; symbolic links in it are not followed, and what `run` writes beside a
/// report.json is left aside.
///
/// A report must be of the plan's matrix, version and facts, and each of its images and cells must be in the
/// plan, made of the same files. A line of the suite must carry the plan id of its cell (job::remote_test).
/// What the lines say is judged as `test` judges it, with the exit code that their totals state; that a cell
/// ran on a GPU is believed where that was asked for and the GPU is the cell's. All are made one by
/// report::merge_runs. Input failures: a file that does not fit, or is neither, and nothing found.
[[nodiscard]] Result<Collected> collect(const RunInput& input, const RunSettings& settings,
                                        const job::Plan& plan, const std::vector<std::string>& paths);

/// Ids of the results (CellResult::id) that `plan` means to have tested and of which `merged` says no more
/// than that: planned, skipped, not there, or given up because the environment kept its image from being
/// built. In the order of the plan.
[[nodiscard]] std::vector<std::string> unanswered(const RunReport& plan, const RunReport& merged);

/// "no machine answered: 12 cells" and the first twenty of them, a line each; empty where all answered.
[[nodiscard]] std::string unanswered_text(const std::vector<std::string>& cells);

}  // namespace cudamatrix::collect
