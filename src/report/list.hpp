// The reports of `list`.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.hpp"
#include "render/image/image_plan.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::report {

/// Jobs that GitHub runs of one matrix.
inline constexpr std::size_t kGithubMatrixEntries = 256;

/// Every cell: its verdict and id on one line, its fields below.
[[nodiscard]] std::string list_text(const CheckReport& report);

/// One JSON document: every cell with id, fields and verdict.
[[nodiscard]] std::string list_json(const CheckReport& report);

/// {"include":[{"id":...,"verdict":...,"driver":...}]} on one line, for fromJSON of a workflow: the accepted
/// and degraded cells. More of them than GitHub runs are an input failure that says how many there are.
[[nodiscard]] Result<std::string> list_github_matrix(const CheckReport& report);

/// `list --images`: the images that the accepted and degraded cells need, each with the cells that share it,
/// and the cells that get none, with the reason.
[[nodiscard]] std::string list_images_text(const CheckReport& report, const ImagePlan& plan);
[[nodiscard]] std::string list_images_json(const CheckReport& report, const ImagePlan& plan);
/// One entry for each image, its cells in one text; more than kGithubMatrixEntries are an input failure.
[[nodiscard]] Result<std::string> list_images_github_matrix(const CheckReport& report, const ImagePlan& plan);

}  // namespace cudamatrix::report
