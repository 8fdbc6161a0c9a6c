// From what the steps of an attempt said to what it proves. Their words come out of a container and are not
// trusted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/rejections.hpp"
#include "run/prove/rejection_attempt.hpp"

namespace cudamatrix::job {

struct StepAnswer {
    std::string name;
    std::optional<int> exit_code;  ///< nullopt: the step left none that can be read
    std::string said;
};

/// Reads the text of a step's exit code: "0" to "255" with a line end.
[[nodiscard]] std::optional<int> read_exit_code(std::string_view text);

/// Fills outcome, seen and reason. Proven only where every step before the attempt succeeded, the attempt
/// failed within its time with a line that matches a signature and none that raises a doubt, and the control
/// succeeded.
void judge_attempt(const PlannedAttempt& planned, const std::vector<StepAnswer>& answers,
                   Rejection& rejection);

}  // namespace cudamatrix::job
