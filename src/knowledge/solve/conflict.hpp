// Constraints that cannot be met together: the smallest sets that conflict, why they do, and the smallest
// changes after which something meets them all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "knowledge/solve/search.hpp"

namespace cudamatrix::solve {

/// What is asked of one variable; no two constraints are about the same.
struct Constraint {
    std::size_t variable = 0;
    std::string text;                    ///< as the user wrote it: ">=1.12", "470.161.03"
    std::vector<std::uint32_t> allowed;  ///< never empty, in the order of the variable
    bool exact = false;                  ///< one value is asked for, no range
};

/// Constraints over the values of a cache's variables. A variable without a constraint may take any of its
/// values.
struct Problem {
    RuleCache& cache;
    std::vector<Constraint> constraints;
};

/// What is let through: a stack that works, with or without named limits.
inline constexpr Verdict kGoodEnough = Verdict::degraded;

/// Sets of constraints by index, ascending.
using ConstraintSet = std::vector<std::size_t>;

/// The domains when only the constraints of `kept` are asked for.
[[nodiscard]] Domains domains_of(const Problem& problem, const ConstraintSet& kept);

/// One rule's part in a proof that a set of constraints cannot be met.
struct Evidence {
    std::size_t rule = 0;        ///< of the cache
    Finding example;             ///< what it says of the first combination that it rules out
    std::uint64_t closed = 0;    ///< how many branches of the search it ends
    std::vector<FactRef> facts;  ///< everything that its answers rest on
};

/// A set of constraints that nothing meets, while every smaller part of it can be met.
struct Conflict {
    ConstraintSet constraints;
    std::vector<Evidence> evidence;  ///< together they end every branch of the search
};

/// Another value for a constraint.
struct Change {
    std::size_t constraint = 0;
    std::uint32_t value = 0;
    bool newer = false;  ///< the value lies before all that the constraint allows; else behind (or anywhere)
};

/// A change of as few constraints as possible after which `witness` meets all. No change of the same
/// constraints in the same directions is smaller in one of them and not larger in another.
struct Relaxation {
    std::vector<Change> changes;
    Assignment witness;  ///< a good combination of the changed values and of what the other constraints allow
};

struct Conflicts {
    std::vector<Conflict> sets;
    bool all_sets = true;  ///< false: there may be more, or smaller ones
    std::vector<Relaxation> relaxations;
    bool all_relaxations = true;
};

/// The most of each kind that are looked for.
inline constexpr std::size_t kMostConflicts = 5;
inline constexpr std::size_t kMostRelaxations = 10;

/// For constraints that nothing meets.
[[nodiscard]] Conflicts conflicts_of(const Problem& problem);

/// Adds the smallest changes of the constraints in `set`, without which the others can be met, in every
/// direction of each. `budget` is what the searches may try; where it is spent, there may be more. A part of
/// conflicts_of.
void relax(const Problem& problem, const ConstraintSet& set, std::uint64_t& budget, Conflicts& out);

/// The values that `constraint` does not allow, nearest first: those newer than all that it allows, or the
/// others.
[[nodiscard]] std::vector<std::uint32_t> nearest_values(const Variable& variable,
                                                        const Constraint& constraint, bool newer);

}  // namespace cudamatrix::solve
