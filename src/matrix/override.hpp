// A matrix as if its cells had other values than the file says, each with a place of its own.
#pragma once

#include <string_view>
#include <vector>

#include "matrix/matrix.hpp"

namespace cudamatrix {

/// The same matrix with `field` set to `text`, checked, in every cell; findings about the value point at
/// `where`.
[[nodiscard]] Result<Matrix> with_override(const Matrix& matrix, Field field, std::string_view text,
                                           const Location& where);

/// The same matrix with each row's values of `fields` in every cell, so that a cell becomes as many as there
/// are rows. What the file says of `without` is dropped. Cells that become equal are one.
[[nodiscard]] Matrix with_rows(const Matrix& matrix, const std::vector<Field>& fields,
                               const std::vector<std::vector<Value>>& rows,
                               const std::vector<Field>& without = {});

}  // namespace cudamatrix
