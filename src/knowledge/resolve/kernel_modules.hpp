// What the facts say about the flavours of the kernel module; shared by the rules about loading the driver.
#pragma once

#include <optional>
#include <string_view>

#include "knowledge/resolve/resolve.hpp"

namespace cudamatrix::rules {

/// What the open kernel modules are to a GPU: required, supported, unsupported; empty where no fact says it.
/// The board's own row speaks before its architecture's (Grace Hopper needs what Hopper merely supports).
[[nodiscard]] std::string_view open_kernel_module(const Device& device);

/// The oldest architecture that they run.
[[nodiscard]] std::optional<Row> first_with_open_modules(const Facts& facts);

}  // namespace cudamatrix::rules
