// The JSON schema of matrix files, for editors.
#pragma once

#include "base/json.hpp"

namespace cudamatrix {

/// JSON Schema (draft 7, which editors read): the keys, and the words of closed lists. Everything that the
/// reader accepts is valid by it.
[[nodiscard]] Json matrix_schema();

}  // namespace cudamatrix
