// What attempts are made of (private to src/run).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "run/prove/rejection_attempt.hpp"

namespace cudamatrix::job {

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
