#include "rules/rule.hpp"

namespace cudamatrix::rules {

ProjectedCell::ProjectedCell(const Cell& cell, FieldSet visible, ReadLog* log)
    : visible_(visible), log_(log) {
    for (const auto& field : all_fields()) {
        if (visible.contains(field.field))
            values_[static_cast<std::size_t>(field.field)] = cell.get(field.field);
    }
}

std::string_view ProjectedCell::text(Field field) const {
    const auto* found = value(field);
    return found != nullptr ? std::string_view(found->text) : std::string_view{};
}

Cell ProjectedCell::cell() const {
    Cell out;
    for (const auto& field : all_fields()) {
        if (visible_.contains(field.field)) out.set(field.field, value(field.field));
    }
    return out;
}

ProjectedCell ProjectedCell::with(Field field, const Value* value) const {
    ProjectedCell copy = *this;
    if (visible_.contains(field)) copy.values_[static_cast<std::size_t>(field)] = value;
    return copy;
}

std::string need_text(const Rule& rule, FieldSet need) {
    std::string out(rule.id);
    std::string_view separator = ": ";
    for (const auto& field : all_fields()) {
        if (!need.contains(field.field)) continue;
        out.append(separator).append(field.name);
        separator = " or ";
    }
    return out;
}

}  // namespace cudamatrix::rules
