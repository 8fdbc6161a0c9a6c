// THE list of rules. A new rule is one file with one function, declared here and listed in all_rules.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "rules/rule.hpp"

namespace cudamatrix::rules {

/// In the order in which a user would meet their faults: by stage.
[[nodiscard]] const std::vector<Rule>& all_rules();
[[nodiscard]] const Rule* rule_named(std::string_view id);

// driver_load
[[nodiscard]] Rule driver_supports_gpu();
// install
[[nodiscard]] Rule toolkit_available();
[[nodiscard]] Rule torch_built_for_cuda();
[[nodiscard]] Rule torch_supports_python();
[[nodiscard]] Rule end_of_life();
// build
[[nodiscard]] Rule cuda_supports_compute();
[[nodiscard]] Rule compiler_supported_by_cuda();
// runtime
[[nodiscard]] Rule driver_supports_cuda();
[[nodiscard]] Rule torch_ships_compute();
[[nodiscard]] Rule gpu_matches_compute();

}  // namespace cudamatrix::rules
