// What a user asks for, as words, made into variables and constraints; words that no fact knows are refused
// with what is near.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "knowledge/solve/conflict.hpp"

namespace cudamatrix::solve {

/// What a user asks for.
struct Query {
    /// A value, a range (">=1.12,<2"), or a pattern ("A100*"); each field at most once.
    std::vector<std::pair<Field, std::string>> fields;
    /// "transformers==4.27.4", "timm>=0.6", "accelerate": a package of the Python index, any of its known
    /// releases where none is named.
    std::vector<std::string> needs;
};

/// The fields that may be asked for.
[[nodiscard]] const std::vector<Field>& query_fields();

/// The most constraints: every subset of them may have to be looked at.
inline constexpr std::size_t kMostConstraints = 12;

struct SearchProblem {
    std::vector<Variable>
        variables;  ///< torch, python and the driver always; the rest where it was asked for
    std::vector<Constraint> constraints;  ///< in the order of `query`
};

/// Input failures, all of them at once: malformed values, values and packages that no fact knows, ranges that
/// no known value meets, the same package twice, nothing at all, too much.
[[nodiscard]] Result<SearchProblem> search_problem(const Facts& facts, const Query& query);

}  // namespace cudamatrix::solve
