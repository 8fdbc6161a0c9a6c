// Members of map fields beyond the grammar that check_member knows.
#pragma once

#include <string>
#include <string_view>

namespace cudamatrix {

/// "compute": small letters and digits. Which of them there are, the facts know.
[[nodiscard]] bool is_capability_word(std::string_view text);

/// False for a variable of NVIDIA's that no image or service may carry: only NVIDIA_VISIBLE_DEVICES (all,
/// none, void) and NVIDIA_DRIVER_CAPABILITIES (capability words) are rendered, because others decide what a
/// privileged hook of the host does. Every other variable may have any value that check_member accepts.
[[nodiscard]] bool is_rendered_variable(std::string_view name, std::string_view value);

/// A package's name as indexes compare it: small letters, with '-' for every run of '.', '_' and '-'.
[[nodiscard]] std::string normalised_package(std::string_view name);

}  // namespace cudamatrix
