// The reports of `check`. Each writer is a pure function: the same data gives the same bytes everywhere.
#pragma once

#include <string>

#include "report/inputs.hpp"

namespace cudamatrix::report {

/// The reader's warnings and the findings as a compiler prints them, then the counts by verdict and, for
/// matrices of up to 64 cells, one row for each cell: id, verdict, the stage and rule that decided it.
[[nodiscard]] std::string check_text(const CheckReport& report);

/// One JSON document: matrix, verdicts, warnings, and every cell with its findings, facts and fixes.
[[nodiscard]] std::string check_json(const CheckReport& report);

/// GitHub workflow commands, one for each finding: the job's page shows them at the line of the matrix file.
/// GitHub keeps ten of each kind for a step; all of them stay in the log.
[[nodiscard]] std::string check_github(const CheckReport& report);

/// Counts by verdict and by rule, no cell listed: any size of matrix.
[[nodiscard]] std::string check_summary_text(const CheckReport& report);
[[nodiscard]] std::string check_summary_json(const CheckReport& report);

}  // namespace cudamatrix::report
