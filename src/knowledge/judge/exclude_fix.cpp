#include "knowledge/judge/exclude_fix.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cudamatrix::rules {
namespace {

// Whether an exclude of `field: text` takes other values of the axis with it.
bool takes_others(const Matrix& matrix, Field field, const std::string& text) {
    const Condition condition{{{field, {{Predicate{Predicate::Op::equal, text}}}, {}}}, {}};
    for (const auto& axis : matrix.axes) {
        for (std::size_t f = 0; f < axis.fields.size(); ++f) {
            if (axis.fields[f] != field) continue;
            for (const auto& row : axis.rows) {
                Cell cell;
                cell.set(field, &row[f]);
                if (row[f].text != text && matches(condition, cell)) return true;
            }
        }
    }
    return false;
}

// A condition looks at the items of a list one by one and at no map as a whole: it cannot name such a value.
bool is_of_many(Field field, const Value& value) {
    return info(field).syntax == Syntax::string_map || value.items.size() > 1;
}

bool varies(const Matrix& matrix, Field field) {
    return std::any_of(matrix.axes.begin(), matrix.axes.end(), [&](const Axis& axis) {
        return axis.rows.size() > 1 &&
               std::find(axis.fields.begin(), axis.fields.end(), field) != axis.fields.end();
    });
}

}  // namespace

std::optional<FixOption> exclude_fix(const Matrix& matrix, const Cell& cell, const Finding& finding) {
    FixOption option;
    for (const auto field : finding.about) {
        if (!varies(matrix, field) || !cell.has(field)) continue;
        if (is_of_many(field, *cell.get(field))) return std::nullopt;
        const auto& text = cell.get(field)->text;
        if (takes_others(matrix, field, text)) return std::nullopt;
        option.exclude.emplace_back(field, text);
        option.text +=
            fmt::format("{}{}: \"{}\"", option.text.empty() ? "exclude: {" : ", ", info(field).name, text);
    }
    if (option.exclude.empty()) return std::nullopt;
    option.text += "}";
    return option;
}

}  // namespace cudamatrix::rules
