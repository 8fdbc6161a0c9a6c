// Which stages of a Dockerfile a build of one of them makes.
#include <algorithm>
#include <ranges>

#include "advise/audit/parts.hpp"
#include "base/text.hpp"

namespace cudamatrix::audit {
namespace {

// Whether COPY --from, a mount or --target means the stage by this text.
bool is_named(const sources::Stage& stage, std::size_t index, std::string_view text) {
    return (!stage.name.empty() && stage.name == text) || std::to_string(index) == text;
}

}  // namespace

std::optional<std::size_t> stage_named(const sources::Source& source, std::string_view text,
                                       std::size_t before) {
    for (auto i = std::min(before, source.stages.size()); i-- > 0;) {
        if (is_named(source.stages[i], i, text)) return i;
    }
    return {};
}

std::vector<bool> built_with(const sources::Source& source, std::size_t target) {
    const auto& stages = source.stages;
    std::vector<bool> out(stages.size(), false);
    out[target] = true;
    // A stage stands on earlier ones only.
    for (auto i = target + 1; i-- > 0;) {
        if (!out[i]) continue;
        if (stages[i].on) out[*stages[i].on] = true;
        for (const auto& step : stages[i].steps) {
            const auto* copy = std::get_if<sources::CopyFrom>(&step);
            if (copy == nullptr) continue;
            if (is_open(copy->stage)) {  // nobody knows which: any of them
                std::fill_n(out.begin(), i, true);
            } else if (const auto from = stage_named(source, copy->stage, i)) {
                out[*from] = true;
            }
        }
    }
    return out;
}

}  // namespace cudamatrix::audit
