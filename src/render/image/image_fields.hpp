// What of a cell its image depends on.
#pragma once

#include "matrix/field.hpp"

namespace cudamatrix {

/// The fields that decide what an image holds: two cells that agree on them share one.
[[nodiscard]] FieldSet image_fields();

}  // namespace cudamatrix
