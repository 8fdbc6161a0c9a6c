// One rejected cell -> what has to be done to see it fail.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/rules/rule.hpp"
#include "matrix/matrix.hpp"
#include "render/files/attempt.hpp"
#include "report/run_reports.hpp"
#include "run/job/session.hpp"

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

// What attempts are made of.
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
[[nodiscard]] MaybeAttempt resolve_packages(const RejectedCell& rejected);
[[nodiscard]] MaybeAttempt mix_parts(const RejectedCell& rejected);

// From a judged matrix to the rejections that can be attempted.

struct PlannedRejection {
    Rejection result;  ///< without an attempt it says why there is none
    std::optional<PlannedAttempt> attempt;
};

/// One for each finding that rejects cells of `choice`: a finding is a rule's answer for one projection, so
/// the cells that share it share the attempt. The first of its cells that can be attempted stands for all.
[[nodiscard]] std::vector<PlannedRejection> plan_rejections(const RunInput& input, const Choice& choice);

// From what the steps of an attempt said to what it proves. Their words come out of a container and are not
// trusted.

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

namespace cudamatrix {

// `test --prove-rejected`: what the rules reject is attempted, and has to fail as they say.

/// Attempts each rejection of the cells that `choice` means (by cells and where: none has an image) once, in
/// a throw-away container of family debian. Failures: no engine, an engine that no longer answers, an output
/// folder that cannot be written. An interrupt gives the report of what was done, with exit code 130. Exit
/// code 1: one works after all, is inconclusive, or nothing was attempted
/// (`strict`: or one was not); else 0.
[[nodiscard]] Result<RejectionReport> prove_rejections(const RunInput& input, const RunSettings& settings,
                                                       const Choice& choice);

}  // namespace cudamatrix
