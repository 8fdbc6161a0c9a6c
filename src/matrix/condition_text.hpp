// Conditions as options of the command line write them.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix {

/// "driver=<500,cuda=12.4.1", "driver=>=450,<525"; the same field again is another alternative of it. Input
/// failures say what was expected.
[[nodiscard]] Result<Condition> condition_from_text(std::string_view text);

}  // namespace cudamatrix
