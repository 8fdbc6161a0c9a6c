// Words of stages, verdicts and findings.
#include <algorithm>

#include "knowledge/finding/finding.hpp"

namespace cudamatrix {
namespace {

constexpr std::array<std::string_view, kStageCount> kStages{
    "driver_load", "image_pull", "container_start", "install", "build", "runtime", "torch_compile"};

}

std::string_view to_string(Stage stage) {
    return kStages[static_cast<std::size_t>(stage)];
}

std::optional<Stage> stage_named(std::string_view name) {
    const auto found = std::find(kStages.begin(), kStages.end(), name);
    if (found == kStages.end()) return std::nullopt;
    return static_cast<Stage>(found - kStages.begin());
}

std::string_view to_string(Verdict verdict) {
    constexpr std::array<std::string_view, 4> names{"accepted", "degraded", "unknown", "rejected"};
    return names[static_cast<std::size_t>(verdict)];
}

Verdict Finding::verdict() const {
    constexpr std::array<Verdict, 4> by_severity{Verdict::rejected, Verdict::degraded, Verdict::unknown,
                                                 Verdict::accepted};
    return by_severity[static_cast<std::size_t>(severity)];
}

std::string Finding::fix_text() const {
    std::string out;
    for (const auto& fix : fixes)
        out.append(out.empty() ? "" : ", or ").append(fix.text);
    return out;
}

}  // namespace cudamatrix
