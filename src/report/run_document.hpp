// The JSON reports of render, build, test and run, read back and made one: what `report` prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/result.hpp"
#include "report/results.hpp"

namespace cudamatrix::report {

/// The report that run_json wrote as `text`; `file` is what messages call it. Every value is checked, those
/// that follow from others as well: run_json of the result is the same document. Input failures: text that is
/// no JSON (file:line:col), and up to twenty values that are missing, unknown or not what they can be, each
/// with its place in the document ($.cells[3].outcome), what was found and what was expected.
[[nodiscard]] Result<RunReport> read_run_json(std::string_view text, std::string_view file);

/// A report with the file that it was read from.
struct ReadRun {
    std::string file;
    RunReport report;
};

/// What a run without a failure is worth, as the options of run say it.
struct ExitRules {
    bool strict = false;         ///< skipped cells are findings
    bool require_gpu = false;    ///< cells that passed without a GPU are findings
    bool accept_static = false;  ///< such cells are no news

    friend bool operator==(const ExitRules&, const ExitRules&) = default;
};

/// 3 an image was not run because of the environment; 1 a cell or an image failed, or no cell was attempted,
/// or (strict) a cell was skipped, or one that was to be tested was not reached; 4 all passed, some only as
/// far as can be without a GPU (1 with require_gpu, 0 with accept_static); 0 else. Skipped cells alone never
/// count without strict, and those that were not chosen not even then.
[[nodiscard]] ExitCode exit_code_of(const RunReport& report, const ExitRules& rules);

/// Done where both are of one matrix, version of the tool and facts, else an input failure about `other`.
[[nodiscard]] Status same_origin(const ReadRun& first, const ReadRun& other);

struct MergedRun {
    RunReport report;
    std::vector<Diagnostic> notes;  ///< what the merged report does not show
};

/// The reports of one matrix as one (at least one is given). Of a cell that is in several, the result that
/// says most stands: tested before built or rendered, that before skipped, that before not chosen; of equal
/// ones that of the last file. Images likewise: one that was built, or whose build failed, before one that
/// was not run because of the environment, that before one that nobody tried. The report of
/// several files has the command that goes furthest, the sum of the seconds, and exit_code_of; paths of logs
/// begin with the folder of their file where those differ. That of one file stays as it is, but for the exit
/// code where there are rules. Input failures: another matrix, version of the tool or facts, a cell that has
/// other fields or another verdict, and an image that was made of other files.
[[nodiscard]] Result<MergedRun> merge_runs(std::vector<ReadRun> runs, const ExitRules& rules);

}  // namespace cudamatrix::report
