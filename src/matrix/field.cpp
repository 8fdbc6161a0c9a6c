#include "matrix/field.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cudamatrix {
namespace {

// The words of "base, runtime or devel".
std::vector<std::string> choices_of(Syntax syntax, std::string_view accepts) {
    if (syntax != Syntax::choice) return {};
    return text::split(text::replace_all(text::replace_all(accepts, " or ", ","), ", ", ","), ',');
}

}  // namespace

const std::array<FieldInfo, kFieldCount>& all_fields() {
    static const std::array<FieldInfo, kFieldCount> fields{{
#define CUDAMATRIX_FIELD(name, prefix, syntax, accepts) \
    {Field::name, #name, prefix, Syntax::syntax, accepts, choices_of(Syntax::syntax, accepts)},
#include "matrix/field.def"
#undef CUDAMATRIX_FIELD
    }};
    return fields;
}

const FieldInfo& info(Field field) {
    return all_fields()[static_cast<std::size_t>(field)];
}

std::optional<Field> field_named(std::string_view name) {
    for (const FieldInfo& field : all_fields()) {
        if (field.name == name) return field.field;
    }
    return std::nullopt;
}

std::vector<std::string> field_names() {
    std::vector<std::string> names;
    for (const FieldInfo& field : all_fields())
        names.emplace_back(field.name);
    return names;
}

}  // namespace cudamatrix
