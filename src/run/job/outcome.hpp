// From a report to the exit code: design of the contract in one place.
#pragma once

#include "base/result.hpp"
#include "report/results.hpp"
#include "run/job/session.hpp"

namespace cudamatrix::job {

/// 130 interrupted; 1 a cell or an image failed, or no cell was attempted, or (--strict) a cell was skipped;
/// 4 all passed, some only as far as can be without a GPU (1 with --require-gpu); 0 else. Skipped cells alone
/// never count without
/// --strict.
[[nodiscard]] ExitCode exit_code_of(const RunReport& report, const RunSettings& settings);

}  // namespace cudamatrix::job
