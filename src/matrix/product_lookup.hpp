// Finding a cell by its values (private to src/matrix).
#pragma once

#include <cstddef>
#include <vector>

#include "matrix/matrix.hpp"

namespace cudamatrix {

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
