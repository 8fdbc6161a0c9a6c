// Writes a matrix as a file.
#pragma once

#include <string>

#include "matrix/matrix.hpp"

namespace cudamatrix {

/// The matrix as a file in one canonical form, which says what was read and nothing else: values in our
/// spelling, no settings that are the default, no comments. Reading it gives an equal matrix.
[[nodiscard]] std::string matrix_text(const Matrix& matrix);

}  // namespace cudamatrix
