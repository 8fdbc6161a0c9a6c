// Why a matrix has the values that it has, and why others of its values do not work: from the rules' own
// answers, each with its facts.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "advise/review/moves.hpp"
#include "knowledge/judge/judge.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix::review {

/// What a rule found to be as it should.
struct Passed {
    std::string rule, sentence;
    std::vector<FactRef> facts;
};

/// The newest value of a field with which a cell works, and what the rules accept of it there.
struct Chosen {
    Field field = Field::torch;
    std::string value;
    std::string cell;  ///< id of the first cell that works with it
    std::vector<Passed> passed;
};
/// Of torch, CUDA, image, driver, python and system, those that the cells name.
[[nodiscard]] std::vector<Chosen> chosen_values(const Judgement& judgement, const Facts& facts,
                                                std::string_view today);

/// Values that stand in the file and in no cell that works: those of the same cells together.
struct Rejected {
    std::vector<std::pair<Field, std::string>> values;
    std::uint64_t cells = 0;
    std::vector<Reason> because;  ///< what decides their verdicts
};
/// Of the same fields, in their order.
[[nodiscard]] std::vector<Rejected> rejected_values(const Matrix& matrix, const Judgement& judgement);

}  // namespace cudamatrix::review
