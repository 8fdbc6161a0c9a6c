#include "knowledge/solve/row.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace cudamatrix::solve {
namespace {

// Values have passed the allow-list of their field: none holds a control character.
std::string yaml_quoted(std::string_view text) {
    return fmt::format("\"{}\"", text::replace_all(text::replace_all(text, "\\", "\\\\"), "\"", "\\\""));
}

std::string value_text(const FieldInfo& field, const Value& value) {
    if (field.syntax != Syntax::string_map && (field.syntax != Syntax::name_list || value.items.empty()))
        return yaml_quoted(value.text);
    std::vector<std::string> parts;
    const bool is_map = field.syntax == Syntax::string_map;
    for (const auto& [name, text] : value.items)
        parts.push_back(is_map ? fmt::format("{}: {}", name, yaml_quoted(text)) : yaml_quoted(name));
    const auto joined = text::join(parts, ", ");
    return is_map ? "{" + joined + "}" : "[" + joined + "]";
}

}  // namespace

std::string row_text(const Cell& cell) {
    std::vector<std::string> parts;
    for (const auto& field : all_fields()) {
        if (const auto* value = cell.get(field.field))
            parts.push_back(fmt::format("{}: {}", field.name, value_text(field, *value)));
    }
    return "{" + text::join(parts, ", ") + "}";
}

}  // namespace cudamatrix::solve
