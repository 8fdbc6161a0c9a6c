// From a judged matrix to the rejections that can be attempted (private to src/run).
#pragma once

#include <optional>
#include <vector>

#include "report/rejections.hpp"
#include "run/job/session.hpp"
#include "run/prove/rejection_attempt.hpp"

namespace cudamatrix::job {

struct PlannedRejection {
    Rejection result;  ///< without an attempt it says why there is none
    std::optional<PlannedAttempt> attempt;
};

/// One for each finding that rejects cells of `where`: a finding is a rule's answer for one projection, so
/// the cells that share it share the attempt. The first of its cells that can be attempted stands for all.
[[nodiscard]] std::vector<PlannedRejection> plan_rejections(const RunInput& input, const Condition& where);

}  // namespace cudamatrix::job
