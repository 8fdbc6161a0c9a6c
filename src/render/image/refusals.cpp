// Why cells get no image: each reason once.
#include <map>
#include <variant>

#include "base/text.hpp"
#include "knowledge/resolve/unpinned.hpp"
#include "render/image/image_plan.hpp"
#include "render/image/resolve_cell.hpp"

namespace cudamatrix {
namespace {

// A reason that says what to write says it as the fix.
RefusalGroup group_of(const std::string& reason, const std::string& cell) {
    const auto write = reason.rfind("; write ");
    if (write == std::string::npos)
        return {reason, "cudamatrix suggest proposes what can be rendered", 0, cell};
    return {reason.substr(0, write), reason.substr(write + 2), 0, cell};
}

}  // namespace

Location place_of_family(const Cell& cell) {
    const auto* family = cell.get(Field::family);
    return family == nullptr ? Location{} : family->where;
}

std::vector<RefusalGroup> grouped(const std::vector<Refusal>& refusals) {
    std::vector<RefusalGroup> groups;
    std::map<std::string, std::size_t> by_reason;
    for (const auto& [cell, reason] : refusals) {
        const auto [place, fresh] = by_reason.try_emplace(reason, groups.size());
        if (fresh) groups.push_back(group_of(reason, cell));
        ++groups[place->second].cells;
    }
    return groups;
}

// Of cells that differ in nothing that an image depends on one is asked.
std::vector<Refusal> refusals_of(const Matrix& matrix, const std::vector<PlannedCell>& cells,
                                 const Facts& facts, const Taken& taken) {
    if (!matrix.deployment.images.empty()) return plan_images(matrix, cells, facts, taken).refusals;
    auto fields = image_fields();
    fields.insert(Field::gpu);  // its host may say the architecture
    std::map<std::vector<const Value*>, std::string> reasons;
    std::vector<Refusal> out;
    for (const auto& [cell, id] : cells) {
        const bool any = rules::has_unpinned(cell.get(Field::packages));  // is found by more fields
        std::vector<const Value*> key;
        for (const auto& field : all_fields())
            key.push_back(any || fields.contains(field.field) ? cell.get(field.field) : nullptr);
        const auto [place, fresh] = reasons.try_emplace(std::move(key));
        if (fresh) {
            auto made = resolve_cell(matrix, cell, facts, taken);
            if (auto* reason = std::get_if<std::string>(&made)) place->second = std::move(*reason);
        }
        if (!place->second.empty()) out.push_back({id, place->second});
    }
    return out;
}

}  // namespace cudamatrix
