// One rejected cell -> what has to be done to see it fail (private to src/run).
#pragma once

#include <string>
#include <string_view>
#include <utility>
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

// What attempts are made of (private to src/run).
using MaybeAttempt = std::variant<PlannedAttempt, std::string>;

inline constexpr unsigned kStepSeconds = 300;  ///< generous: a slow machine is no proof of anything

/// The text of the cell's value, empty where the matrix says nothing.
[[nodiscard]] std::string text_of(const Cell& cell, Field field);

/// The image of the cell as far as `kept` goes: what its other fields ask for is no part of the attempt.
[[nodiscard]] std::variant<Image, std::string> image_of(const RejectedCell& rejected, FieldSet kept);

/// The rule's signatures with what was attempted in the place of {name}.
[[nodiscard]] std::vector<std::string> signatures_of(
    const rules::Rule& rule, const std::vector<std::pair<std::string, std::string>>& names);

/// The attempt and its control, behind the steps that prepare them.
void add_steps(PlannedAttempt& planned, std::vector<std::string> attempt, std::vector<std::string> control);

/// kernel.cu: a kernel and its launch, which nvcc, all its parts and its host compiler have to handle.
[[nodiscard]] Artifact kernel_file();

/// Attempts::resolve_... and mix_parts: those in which pip takes part.
[[nodiscard]] MaybeAttempt resolve_python(const RejectedCell& rejected);
[[nodiscard]] MaybeAttempt resolve_variant(const RejectedCell& rejected);
[[nodiscard]] MaybeAttempt resolve_together(const RejectedCell& rejected);
[[nodiscard]] MaybeAttempt mix_parts(const RejectedCell& rejected);

}  // namespace cudamatrix::job
