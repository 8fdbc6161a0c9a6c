// Slugs of values in cell ids (private to src/matrix).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "matrix/matrix.hpp"

namespace cudamatrix {

/// The segment that `value` of `field` gives to an id when no other value of the matrix gives the same:
/// prefix and slug.
[[nodiscard]] std::string plain_segment(Field field, const std::string& text);

/// Every segment that two different values of the matrix share, sorted; cell_id adds a hash to those.
[[nodiscard]] std::vector<std::string> shared_segments(const Matrix& matrix);

}  // namespace cudamatrix
