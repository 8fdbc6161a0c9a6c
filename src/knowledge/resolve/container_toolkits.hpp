// What the facts know about a release of nvidia-container-toolkit; shared by the rules about starts.
#pragma once

#include <optional>

#include "knowledge/resolve/resolve.hpp"

namespace cudamatrix::rules {

/// The row of container_toolkits whose series holds the cell's `toolkit`; nothing where the cell names none
/// or the facts do not reach.
[[nodiscard]] std::optional<Row> container_toolkit(const Context& context);

}  // namespace cudamatrix::rules
