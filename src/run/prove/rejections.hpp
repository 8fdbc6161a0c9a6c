// `test --prove-rejected`: what the rules reject is attempted, and has to fail as they say.
#pragma once

#include <string>

#include "base/result.hpp"
#include "matrix/matrix.hpp"
#include "report/run_reports.hpp"
#include "run/job/session.hpp"

namespace cudamatrix {

/// Which rejections: all of the matrix, or those of the cells that `where` matches.
struct RejectionChoice {
    Condition where;
    std::string text;  ///< --where as it was given
};

/// Attempts each rejection once, in a throw-away container of family debian. Failures: no engine, an engine
/// that no longer answers, an output folder that cannot be written. An interrupt gives the report of what was
/// done, with exit code 130. Exit code 1: one works after all, is inconclusive, or nothing was attempted
/// (`strict`: or one was not); else 0.
[[nodiscard]] Result<RejectionReport> prove_rejections(const RunInput& input, const RunSettings& settings,
                                                       const RejectionChoice& choice);

}  // namespace cudamatrix
