// A plan carried out: the file with the edits in it, read again and judged as a whole.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/diff/verdict_changes.hpp"
#include "advise/upgrade/fleet.hpp"
#include "advise/upgrade/plans.hpp"
#include "base/result.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix::upgrade {

/// Reads a matrix file of another text in the place of the one that there is, and judges it.
struct Rejudged {
    Matrix matrix;
    Judgement judgement;
};
using Rejudge = std::function<Result<Rejudged>(std::string_view source)>;
/// The same without judging.
using Reread = std::function<Result<Matrix>(std::string_view source)>;

/// One change of the file: "torch", "2.5.1+cu124" -> "2.6.0+cu124". Without `before` the value is one more of
/// its axis, without `now` it is dropped.
struct Step {
    std::string field, before, now;
    friend bool operator==(const Step&, const Step&) = default;
};

/// What a plan changes, in the order of the file, each once.
[[nodiscard]] std::vector<Step> steps_of(const Fleet& fleet, const Plan& plan);

/// The matrix file after the plan: values at their places, new rows behind the front, ended ones taken out,
/// expect_cells counted again; comments and layout stay. An input failure names what it could not edit.
[[nodiscard]] Result<std::string> edited_source(const Matrix& matrix, const Fleet& fleet, const Plan& plan,
                                                const Reread& read);

struct Outcome {
    Aim aim = Aim::hold;
    std::vector<Step> steps;  ///< none: the file stays as it is
    std::string source;       ///< the whole file afterwards; empty: `refusal` says why
    std::string refusal;
    std::array<std::uint64_t, 4> verdicts{};  ///< of the cells afterwards, by Verdict
    review::VerdictChanges changes;
};

/// Input failures of the edit are its `refusal`; others, and an interrupt, are failures.
[[nodiscard]] Result<Outcome> carried_out(const Matrix& matrix, const Judgement& judgement, Fleet& fleet,
                                          const Plan& plan, const Reread& read, const Rejudge& rejudge);

}  // namespace cudamatrix::upgrade
