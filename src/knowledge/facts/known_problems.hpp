// The table known_problems: what breaks although every rule of versions accepts it. A row is in the shape of
// the user's own `rules:`: the problem strikes the cells that meet all of `when`.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/facts/facts.hpp"
#include "knowledge/facts/pep440.hpp"
#include "matrix/condition.hpp"

namespace cudamatrix {

struct KnownProblem {
    /// One condition: on a field with a single value, or on the release of a package.
    struct Clause {
        Field field = Field::packages;
        std::optional<ClauseTest> test;  ///< nothing for a package
        std::string_view package = {};
        pep440::Specifiers versions = {};
        [[nodiscard]] std::string_view name() const;  ///< as {NAME} in a sentence
    };
    Row row;
    std::vector<Clause> when;
};

namespace facts {

/// A rule that the rows of known_problems speak for, and the fields that their `when` may name.
struct ProblemRule {
    std::string_view id;
    FieldSet fields;
    /// Several rows may strike one cell: what they say are parts of one sentence, and none of them asks.
    bool adds_up = false;
};
inline constexpr std::size_t kProblemRules = 4;
[[nodiscard]] std::span<const ProblemRule> problem_rules();
[[nodiscard]] const ProblemRule* problem_rule(std::string_view id);

/// Nothing where the row is malformed, which the self-check says.
[[nodiscard]] std::optional<KnownProblem> known_problem(const Row& row);

/// What is wrong with a row beyond the kinds of its columns.
[[nodiscard]] std::vector<std::string> mistakes_in(const KnownProblem& problem);
/// What is wrong with one value of a column `when.FIELD` or `fix.FIELD`; nothing where it is well formed.
[[nodiscard]] std::optional<std::string> mistake_in_condition(std::string_view column,
                                                              std::string_view value);
/// Whether some cell could meet both.
[[nodiscard]] bool overlap(const KnownProblem& a, const KnownProblem& b);

}  // namespace facts
}  // namespace cudamatrix
