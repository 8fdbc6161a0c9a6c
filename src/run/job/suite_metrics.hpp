// How fast a GPU was, as the suite says it. Untrusted like every line of it.
#pragma once

#include <optional>
#include <vector>

#include "base/json.hpp"
#include "report/results.hpp"

namespace cudamatrix::job {

/// The member "metrics" of a test's line, or of the journal's; of none an empty list. Nullopt when any of it
/// is no measurement: a name or a number is missing, a number is negative or not finite, there are too many.
[[nodiscard]] std::optional<std::vector<Metric>> metrics_from(const Json& test);

}  // namespace cudamatrix::job
