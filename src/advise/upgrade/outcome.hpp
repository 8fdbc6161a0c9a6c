// A plan carried out: the file with the edits in it, read again and judged as a whole.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "advise/diff/verdict_changes.hpp"
#include "advise/upgrade/fleet.hpp"
#include "advise/upgrade/plans.hpp"
#include "base/result.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix::upgrade {

/// Reads a matrix file of another text in the place of the one that there is.
using Reread = std::function<Result<Matrix>(std::string_view source)>;

/// One change of the file: "torch", "2.5.1+cu124" -> "2.6.0+cu124". Without `before` the value is one more of
/// its axis, without `now` it is dropped.
struct Step {
    std::string field, before, now;
    friend bool operator==(const Step&, const Step&) = default;
};

struct Outcome {
    Aim aim = Aim::hold;
    std::vector<Step> steps;  ///< each once; none: the file stays as it is
    std::string source;       ///< the whole file afterwards; empty: `refusal` says why
    std::string refusal;
    std::array<std::uint64_t, 4> verdicts{};  ///< of the cells afterwards, by Verdict
    diff::VerdictChanges changes;
    std::vector<std::string> lost;  ///< cells of `keep:` that work and would not, or would be no more
};

/// What a cell has, by the names of its fields and packages.
using NamedValues = std::vector<std::pair<std::string, std::string>>;

/// Fills `verdicts`, `changes` and `lost` by what the cells became. `after` has what each cell of `before`
/// has in the edited file, which `now` judged; `values_of` says it of a cell as it is, in the same order.
void compare_edited(const Matrix& matrix, const Judgement& before, const std::vector<NamedValues>& after,
                    const Matrix& edited, const Judgement& now,
                    const std::function<NamedValues(const Cell&)>& values_of, Outcome& out);

/// The matrix file after the plan: values at their places, new rows behind the front, ended ones taken out,
/// expect_cells counted again; comments and layout stay. What could not be edited is the `refusal`; an
/// interrupt is a failure.
[[nodiscard]] Result<Outcome> carried_out(Fleet& fleet, const Plan& plan, const Reread& read,
                                          const OnProgress& on_progress = {});

}  // namespace cudamatrix::upgrade
