// The last resort of a rejection: to leave the combination out.
#pragma once

#include <optional>

#include "knowledge/judge/judge.hpp"

namespace cudamatrix::rules {

/// The exclude that takes the values of `finding.about` out of the product, as they stand in `cell`. Nothing
/// when none of them varies, when other values would go with them ("570" covers 570.124.06), or when one of
/// them is a map or a list of several names, which no condition can spell.
[[nodiscard]] std::optional<FixOption> exclude_fix(const Matrix& matrix, const Cell& cell,
                                                   const Finding& finding);

}  // namespace cudamatrix::rules
