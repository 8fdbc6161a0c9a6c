// Which rows of which axes each exclude covers, worked out once for a matrix (private to src/matrix). An
// exclude covers a cell exactly when it covers the row of every axis, because axes are independent and zipped
// fields are one axis.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/matrix.hpp"

namespace cudamatrix {

class Exclusion {
  public:
    using Mask = std::vector<std::uint64_t>;  ///< one bit for each exclude

    explicit Exclusion(const Matrix& matrix);

    /// Excludes that `set` alone does not rule out.
    [[nodiscard]] const Mask& start() const { return start_; }
    /// Excludes that row `row` of axis `axis` does not rule out.
    [[nodiscard]] const Mask& row(std::size_t axis, std::size_t row) const { return rows_[axis][row]; }
    /// Indices of excludes that cover no cell of the product.
    [[nodiscard]] std::vector<std::size_t> covering_nothing() const;

    [[nodiscard]] static bool any(const Mask& mask);
    [[nodiscard]] static Mask both(const Mask& a, const Mask& b);

  private:
    std::size_t excludes_;
    Mask start_;
    std::vector<std::vector<Mask>> rows_;
};

}  // namespace cudamatrix
