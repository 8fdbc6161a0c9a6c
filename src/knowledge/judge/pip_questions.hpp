// What pip's resolver has still to be asked about the cells of a matrix.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "knowledge/facts/facts.hpp"
#include "knowledge/facts/resolution.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix {

struct PipQuestions {
    std::set<PipQuestion> open;     ///< of cells that no rule rejects at install, and of wheels only
    std::set<std::string> refused;  ///< why of other cells pip is not asked
    bool all = true;                ///< false: the matrix has more cells than are looked at
};

/// Each question once. One is open where no row answers it, and where the row is of a day before `today`
/// (YYYY-MM-DD) and another answer is possible: wheels are added, and what is not pinned has newer releases.
[[nodiscard]] PipQuestions pip_questions(const Matrix& matrix, const Facts& facts, std::string_view today,
                                         std::uint64_t cell_limit = 100'000);

/// Adds what has to be asked about one cell.
void add_pip_question(const Cell& cell, const Facts& facts, std::string_view today, PipQuestions& questions);

}  // namespace cudamatrix
