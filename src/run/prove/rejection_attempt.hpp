// One rejected cell -> what has to be done to see it fail (private to src/run).
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "knowledge/facts/facts.hpp"
#include "knowledge/rules/rule.hpp"
#include "matrix/matrix.hpp"
#include "render/files/attempt.hpp"

namespace cudamatrix::job {

/// The names of the steps that decide; every other step has to succeed for them to count.
inline constexpr std::string_view kAttemptStep = "attempt";
inline constexpr std::string_view kControlStep = "control";

struct PlannedAttempt {
    Image image;  ///< in whose stage it happens; shares its layers with the images of accepted cells
    AttemptRequest request;
    std::vector<std::string> signatures;  ///< globs of a line, one of which proves the refusal
    std::vector<std::string> doubts;      ///< globs of a line after which the failure says nothing
    std::string attempt;                  ///< in words
    std::string control;
};

/// What the planning of an attempt looks at.
struct RejectedCell {
    const Matrix& matrix;
    const Facts& facts;
    const Cell& cell;
    const rules::Rule& rule;
    const Finding& finding;
};

/// The attempt, or why there can be none.
[[nodiscard]] std::variant<PlannedAttempt, std::string> plan_attempt(const RejectedCell& rejected);

}  // namespace cudamatrix::job
