// A cell as a row of a matrix file.
#pragma once

#include <string>

#include "matrix/matrix.hpp"

namespace cudamatrix::solve {

/// "{driver: "470.161.03", gpu: "T4", torch: "1.13.1+cu117", packages: {transformers: "4.27.4"}}": what
/// stands under `include:` (behind "- ") or, as one cell, under `set:`. Every scalar is quoted, so that no
/// version is read as a number. A list of one stays a list.
[[nodiscard]] std::string row_text(const Cell& cell);

}  // namespace cudamatrix::solve
