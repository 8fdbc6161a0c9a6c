// The product of the axes: which of its rows each exclude covers, and which includes repeat a cell of it
// (private to src/matrix).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "matrix/matrix.hpp"

namespace cudamatrix {

/// Which rows of which axes each exclude covers. It covers a cell exactly when it covers the row of every
/// axis, because axes are independent.
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

/// The cell of `set` and `row`, whose values go before those of `set`.
[[nodiscard]] Cell cell_of(const Matrix& matrix, const std::vector<std::pair<Field, Value>>& row);

/// With no axes `set` is one cell of its own, unless includes list the cells: then it only completes those.
[[nodiscard]] bool has_product(const Matrix& matrix);

/// An include whose cell exists already: in the product less excludes, or as an earlier include.
struct RepeatedInclude {
    std::size_t index;
    bool in_product;
};
[[nodiscard]] std::vector<RepeatedInclude> repeated_includes(const Matrix& matrix);

/// Takes those includes (ascending) out of the matrix.
void drop_includes(Matrix& matrix, const std::vector<RepeatedInclude>& repeated);

}  // namespace cudamatrix
