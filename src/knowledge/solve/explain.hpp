// Why a cell is, or is not, in a matrix, and what its verdict rests on.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "knowledge/judge/judge.hpp"
#include "knowledge/rules/rule.hpp"
#include "knowledge/solve/nearest.hpp"

namespace cudamatrix::solve {

/// Which cells are meant: by id, or by values ("cuda=11.8,python=3.13": each covers what it does not say).
struct Question {
    std::string id;
    std::string where;
};

/// A cell of the matrix with everything that its verdict rests on.
struct Account {
    const JudgedCell* cell = nullptr;  ///< of the Judgement
    rules::Acceptances passed;         ///< questions answered by yes, with the facts behind them
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

/// Answers for at most `limit` cells; the answer points into `matrix` and `judgement`. Input failures:
/// an id that no cell has (with the nearest), words that are no condition. Where `on_progress` says stop, it
/// fails as interrupted, without a diagnostic.
[[nodiscard]] Result<Explanation> explain(const Matrix& matrix, const Facts& facts,
                                          const Judgement& judgement, const std::string& today,
                                          const Question& question, std::size_t limit,
                                          const OnProgress& on_progress = {});

}  // namespace cudamatrix::solve
