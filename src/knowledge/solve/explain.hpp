// Why a cell is, or is not, in a matrix, and what its verdict rests on.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "knowledge/judge/judge.hpp"
#include "knowledge/rules/rule.hpp"
#include "knowledge/solve/suggest.hpp"

namespace cudamatrix::solve {

// The way out of a rejection: the cells nearest to it that work.

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
/// The most that rules are asked for it: what a package without a pin stands for makes every answer new.
inline constexpr std::uint64_t kMostAsked = 300'000;

struct Nearest {
    std::vector<Neighbour> cells;
    bool complete = true;  ///< false: given up at kMostTried or kMostAsked, or stopped
};

/// The cells that work and differ from `cell` in as few fields (or packages) as possible, at most `most` with
/// different sets of them: what is installed changes before the driver; the machine and what is asked of it
/// only where no other change of as many helps; each with the nearest values. Values come from the facts and
/// from the fixes of the findings. Empty where no change of up to kMostSteps helps. `setting` says which
/// rules count.
[[nodiscard]] Nearest nearest(const Facts& facts, const std::string& today, const Cell& cell,
                              const Setting& setting, std::size_t most);

/// A cell of the matrix with everything that its verdict rests on.
struct Account {
    const JudgedCell* cell = nullptr;    ///< of the Judgement
    std::vector<FindingGroup> findings;  ///< of the cell, each with the ways out of this very cell
    rules::Acceptances passed;           ///< questions answered by yes, with the facts behind them
    std::vector<std::string_view>
        silent;       ///< rules that were asked and had neither a finding nor a fact to name
    Nearest nearest;  ///< for a rejected or unknown cell
};

/// A combination of the axes that an exclude takes out.
struct LeftOut {
    std::string id;
    std::vector<Location> excludes;  ///< every exclude that covers it
};

struct Explanation {
    std::vector<Account> cells;
    std::uint64_t more_cells = 0;   ///< that are meant, too
    std::vector<LeftOut> left_out;  ///< only where no cell is meant
    std::uint64_t more_left_out = 0;
    std::vector<std::string> absent;  ///< where nothing at all is meant: why the product never makes it
};

/// The most neighbours of a cell.
inline constexpr std::size_t kMostNeighbours = 3;

/// Answers for at most `limit` cells; the answer points into `matrix` and `judgement`. `which` is an id, the
/// 12 digits that end a shortened one, a pattern of ids (drv470*), or values: "cuda=11.8,python=3.13", each
/// covering what it does not say. Input failures: an id that no cell has (with the nearest), words that are
/// no condition. Where `on_progress` says stop, it fails as interrupted, without a diagnostic.
[[nodiscard]] Result<Explanation> explain(const Matrix& matrix, const Facts& facts,
                                          const Judgement& judgement, const std::string& today,
                                          const std::string& which, std::size_t limit,
                                          const OnProgress& on_progress = {});

}  // namespace cudamatrix::solve
