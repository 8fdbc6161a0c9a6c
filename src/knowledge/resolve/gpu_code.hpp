// Which code of a file runs on a GPU, by the lists that rows of facts write. Shared by rules.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "fatbin/arch.hpp"
#include "knowledge/facts/facts.hpp"

namespace cudamatrix::rules {

/// The lowest and the highest plain target of a toolkit's nvcc (a row of cuda_toolkits).
struct TargetRange {
    std::optional<fatbin::Arch> lowest, highest;
};
[[nodiscard]] TargetRange target_range(const Row& toolkit);

/// What devices are compared by: a device has no variant, and the a or f of a `compute` asks for code.
[[nodiscard]] fatbin::Arch device_arch(fatbin::Arch arch);

/// Does the device run machine code for one of these capabilities ("8.6")?
[[nodiscard]] bool has_sass(std::span<const std::string_view> compute, const fatbin::Arch& device);
/// The first capability whose PTX a driver compiles for the device.
[[nodiscard]] std::optional<std::string_view> ptx_for(std::span<const std::string_view> compute,
                                                      const fatbin::Arch& device);
/// Does the row serve the device by the machine code in column `sass`, or by its `ptx`?
[[nodiscard]] bool has_code(const Row& row, std::string_view sass, const fatbin::Arch& device);

}  // namespace cudamatrix::rules
