// The JSON schema of matrix files, for editors.
#pragma once

#include "base/json.hpp"

namespace cudamatrix {

/// JSON Schema (draft 7, which editors read) of a matrix file: the keys, and where a value is one of a closed
/// list, its words. Everything that the reader accepts is valid by it; values are looked at more closely by
/// the reader alone.
[[nodiscard]] Json matrix_schema();

}  // namespace cudamatrix
