// Demands that cannot be met together: the smallest sets that conflict, why they do, and the smallest changes
// after which something meets them all.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "knowledge/solve/search.hpp"

namespace cudamatrix::solve {

/// What is asked of one slot; no two demands are about the same.
struct Demand {
    std::size_t slot = 0;
    std::string text;                    ///< as the user wrote it: ">=1.12", "470.161.03"
    std::vector<std::uint32_t> allowed;  ///< never empty, in the order of the slot
    bool exact = false;                  ///< one value is asked for, no range
};

/// Demands over the values of an oracle's slots. A slot without a demand may take any of its values.
struct Problem {
    Oracle& oracle;
    std::vector<Demand> demands;
};

/// What is let through: a stack that works, with or without named limits.
inline constexpr Verdict kGoodEnough = Verdict::degraded;

/// Sets of demands by index, ascending.
using DemandSet = std::vector<std::size_t>;

/// The domains when only the demands of `kept` are asked for.
[[nodiscard]] Domains domains_of(const Problem& problem, const DemandSet& kept);

/// One rule's part in a proof that a set of demands cannot be met.
struct Evidence {
    std::size_t rule = 0;        ///< of the oracle
    Finding example;             ///< what it says of the first combination that it rules out
    std::uint64_t closed = 0;    ///< how many branches of the search it ends
    std::vector<FactRef> facts;  ///< everything that its answers rest on
};

/// A set of demands that nothing meets, while every smaller part of it can be met.
struct Conflict {
    DemandSet demands;
    std::vector<Evidence> evidence;  ///< together they end every branch of the search
};

/// Another value for a demand.
struct Change {
    std::size_t demand = 0;
    std::uint32_t value = 0;
    bool newer = false;  ///< the value lies before all that the demand allows; else behind (or anywhere)
};

/// A change of as few demands as possible after which `witness` meets all. No change of the same demands in
/// the same directions is smaller in one of them and not larger in another.
struct Relaxation {
    std::vector<Change> changes;
    Picks witness;  ///< a good combination of the changed values and of what the other demands allow
};

struct Conflicts {
    std::vector<Conflict> sets;
    bool all_sets = true;  ///< false: there may be more
    std::vector<Relaxation> relaxations;
    bool all_relaxations = true;
};

/// The most of each kind that are looked for.
inline constexpr std::size_t kMostConflicts = 5;
inline constexpr std::size_t kMostRelaxations = 10;

/// For demands that nothing meets.
[[nodiscard]] Conflicts conflicts_of(const Problem& problem);

/// The values that `demand` does not allow, nearest first: those newer than all that it allows, or the
/// others.
[[nodiscard]] std::vector<std::uint32_t> nearest_values(const Slot& slot, const Demand& demand, bool newer);

}  // namespace cudamatrix::solve
