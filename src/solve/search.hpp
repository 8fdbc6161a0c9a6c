// Walks the combinations of values that are good enough, best values first, and leaves a branch as soon as
// one rule that has all it reads speaks against it.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "solve/oracle.hpp"

namespace cudamatrix::solve {

/// All values of all slots.
[[nodiscard]] Domains everything(const std::vector<Slot>& slots);

class Search {
  public:
    /// Told of every branch that is left: the rule that is worse than asked, and the picks; those of slots
    /// that it does not read mean nothing.
    using OnClosed = std::function<void(std::size_t rule, const Picks& picks)>;

    /// `order`: the slots in the order in which they are tried, the first the slowest; empty: as they stand.
    /// Slots with one value come before all others.
    Search(Oracle& oracle, Domains domains, std::vector<std::size_t> order = {});

    /// The first combination with a verdict of `worst` or better, in the order of the values.
    [[nodiscard]] std::optional<Picks> first(Verdict worst, const OnClosed& closed = {});

    /// Values that are tried at most, over all calls of `first`; beyond that it finds nothing.
    void set_budget(std::uint64_t steps) { budget_ = steps; }
    /// What is left of it; 0: it may have missed something.
    [[nodiscard]] std::uint64_t budget() const { return budget_; }

  private:
    bool walk(std::size_t depth, Verdict worst, const OnClosed& closed);
    [[nodiscard]] bool is_open(std::size_t depth, Verdict worst, const OnClosed& closed);

    Oracle& oracle_;
    Domains domains_;
    std::vector<std::size_t> order_;
    std::vector<std::vector<std::size_t>> ready_;  ///< by depth: the rules whose last slot is picked there
    Picks picks_;
    std::uint64_t budget_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace cudamatrix::solve
