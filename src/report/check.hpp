// The reports of `check` and `list`. Each writer is a pure function: the same data gives the same bytes
// everywhere.
#pragma once

#include <string>

#include "base/result.hpp"
#include "render/image/image_plan.hpp"
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

/// Every cell: its verdict and id on one line, its fields below.
[[nodiscard]] std::string list_text(const CheckReport& report);

/// One JSON document: every cell with id, fields and verdict.
[[nodiscard]] std::string list_json(const CheckReport& report);

/// {"include":[{"id":...,"verdict":...,"driver":...}]} on one line, for fromJSON of a workflow: the accepted
/// and degraded cells. More than the 256 that GitHub runs are an input failure that says how many there are.
[[nodiscard]] Result<std::string> list_github_matrix(const CheckReport& report);

/// `list --images`: the images that the accepted and degraded cells need, each with the cells that share it,
/// and the cells that get none, with the reason.
[[nodiscard]] std::string list_images_text(const CheckReport& report, const ImagePlan& plan);
[[nodiscard]] std::string list_images_json(const CheckReport& report, const ImagePlan& plan);
/// One entry for each image, its cells in one text; more than 256 are an input failure.
[[nodiscard]] Result<std::string> list_images_github_matrix(const CheckReport& report, const ImagePlan& plan);

}  // namespace cudamatrix::report
