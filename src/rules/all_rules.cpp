#include "rules/all_rules.hpp"

namespace cudamatrix::rules {

const std::vector<Rule>& all_rules() {
    static const std::vector<Rule> rules{
        driver_supports_gpu(), toolkit_available(),     torch_built_for_cuda(),       torch_supports_python(),
        end_of_life(),         cuda_supports_compute(), compiler_supported_by_cuda(), driver_supports_cuda(),
        torch_ships_compute(), gpu_matches_compute(),
    };
    return rules;
}

const Rule* rule_named(std::string_view id) {
    for (const auto& rule : all_rules()) {
        if (rule.id == id) return &rule;
    }
    return nullptr;
}

}  // namespace cudamatrix::rules
