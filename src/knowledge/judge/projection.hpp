// Cells of the product that agree on the rows of some axes share an answer: the tables of those answers.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "matrix/matrix.hpp"

namespace cudamatrix::rules {

/// A number for each position of a projection, 0 until it is set: a plain vector while that is small.
class Projection {
  public:
    /// The axes that have one of `fields`.
    Projection(const Matrix& matrix, FieldSet fields);

    /// The entry of a cell, by the row that it takes of each axis.
    [[nodiscard]] std::uint32_t& entry(std::span<const std::uint64_t> rows) {
        std::uint64_t at = 0;
        for (const auto& [axis, stride] : axes_)
            at += rows[axis] * stride;
        return is_dense_ ? dense_[at] : sparse_[at];
    }

  private:
    std::vector<std::pair<std::size_t, std::uint64_t>> axes_;  ///< axis, stride
    bool is_dense_ = true;
    std::vector<std::uint32_t> dense_;
    std::unordered_map<std::uint64_t, std::uint32_t> sparse_;
};

}  // namespace cudamatrix::rules
