#include "knowledge/resolve/gpu_code.hpp"

#include <algorithm>

#include "fatbin/cover.hpp"

namespace cudamatrix::rules {

fatbin::Arch device_arch(fatbin::Arch arch) {
    arch.variant = fatbin::Variant::base;
    return arch;
}

TargetRange target_range(const Row& toolkit) {
    TargetRange range;
    for (const auto target : toolkit.list("targets")) {
        const auto arch = fatbin::parse_arch(target);
        if (arch->variant != fatbin::Variant::base) continue;
        if (!range.lowest || *arch < *range.lowest) range.lowest = arch;
        if (!range.highest || *range.highest < *arch) range.highest = arch;
    }
    return range;
}

bool has_sass(std::span<const std::string_view> compute, const fatbin::Arch& device) {
    return std::any_of(compute.begin(), compute.end(), [&](std::string_view text) {
        return fatbin::sass_runs_on(*fatbin::parse_arch(text), device);  // the self-check lets no others in
    });
}

std::optional<std::string_view> ptx_for(std::span<const std::string_view> compute,
                                        const fatbin::Arch& device) {
    const auto found = std::find_if(compute.begin(), compute.end(), [&](std::string_view text) {
        return fatbin::ptx_compiles_for(*fatbin::parse_arch(text), device);
    });
    return found == compute.end() ? std::nullopt : std::optional(*found);
}

bool has_code(const Row& row, std::string_view sass, const fatbin::Arch& device) {
    return has_sass(row.list(sass), device) || ptx_for(row.list("ptx"), device).has_value();
}

}  // namespace cudamatrix::rules
