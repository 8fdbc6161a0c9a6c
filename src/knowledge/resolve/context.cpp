#include "knowledge/resolve/context.hpp"

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

ProjectedCell ProjectedCell::with_releases(const Value* packages) const {
    auto copy = with(Field::packages, packages);
    copy.written_packages_ = values_[static_cast<std::size_t>(Field::packages)];
    return copy;
}

ProjectedCell ProjectedCell::as_written() const {
    return written_packages_ == nullptr ? *this : with(Field::packages, written_packages_);
}

}  // namespace cudamatrix::rules
