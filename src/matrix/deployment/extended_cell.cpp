#include "matrix/deployment/extended_cell.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "matrix/value.hpp"

namespace cudamatrix {

std::string ExtendedCell::add(Field field, Value& own, const std::vector<Variable>& members, bool replace) {
    if (members.empty()) return {};
    auto all = own;
    if (const auto* value = cell_.get(field); value != nullptr && value != &own) all = *value;
    for (const auto& member : members) {
        const auto same = [&](const std::pair<std::string, std::string>& item) {
            return field == Field::packages
                       ? text::normalised_project(item.first) == text::normalised_project(member.name)
                       : item.first == member.name;
        };
        const auto there = std::find_if(all.items.begin(), all.items.end(), same);
        if (there == all.items.end()) {
            all.items.emplace_back(member.name, member.value);
        } else if (replace) {
            there->second = member.value;
        } else if (there->second != member.value) {
            return fmt::format("{} {}, where {} of the cell say {}", member.name, member.value,
                               info(field).name, there->second);
        }
    }
    set_text_from_items(all, Syntax::string_map);
    own = std::move(all);
    cell_.set(field, &own);
    return {};
}

}  // namespace cudamatrix
