// The way out of a rejection: the cells nearest to it that work.
#pragma once

#include <string>
#include <vector>

#include "knowledge/solve/suggest.hpp"

namespace cudamatrix::solve {

/// A good cell and what tells it from the other.
struct Neighbour {
    struct Step {
        std::string name;  ///< of a field or a package
        std::string from, to;
    };
    std::vector<Step> steps;
    Stack stack;
};

/// Fields that are changed at most.
inline constexpr std::size_t kMostSteps = 4;

/// Values that are tried at most for one cell: seconds, where many packages could each be another.
inline constexpr std::uint64_t kMostTried = 2'000'000;

struct Nearest {
    std::vector<Neighbour> cells;
    bool complete = true;  ///< false: the search was given up after kMostTried values, or stopped
};

/// The cells that work and differ from `cell` in as few fields (or packages) as possible, at most `most` with
/// different sets of them: what is installed changes before the driver; the machine and what is asked of it
/// only where no other change of as many helps; each with the nearest values. Values come from the facts and
/// from the fixes of the findings. Empty where no change of up to kMostSteps helps. `setting` says which
/// rules count.
[[nodiscard]] Nearest nearest(const Facts& facts, const std::string& today, const Cell& cell,
                              const Setting& setting, std::size_t most);

}  // namespace cudamatrix::solve
