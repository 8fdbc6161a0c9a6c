#include "matrix/product_lookup.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>

namespace cudamatrix {
namespace {

Cell cell_of(const Matrix& matrix, const std::vector<std::pair<Field, Value>>& row) {
    Cell cell;
    for (const auto& [field, value] : matrix.set)
        cell.set(field, &value);
    for (const auto& [field, value] : row)
        cell.set(field, &value);
    return cell;
}

bool same(const Value* a, const Value* b) {
    return a == nullptr || b == nullptr ? a == b : a->text == b->text;
}

// The cell as text, equal exactly for equal cells: no value holds a line end.
std::string written_out(const Cell& cell) {
    std::string out;
    for (const FieldInfo& field : all_fields()) {
        const Value* value = cell.get(field.field);
        if (value != nullptr) out += value->text;
        out += value != nullptr ? '\n' : '\0';
    }
    return out;
}

// A cell of the product has exactly the fields of the axes and of `set`.
bool in_product(const Matrix& matrix, const Cell& cell) {
    if (!has_product(matrix)) return false;
    FieldSet fields;
    for (const auto& [field, value] : matrix.set) {
        fields.insert(field);
        if (!same(cell.get(field), &value)) return false;
    }
    for (const Axis& axis : matrix.axes) {
        for (const Field field : axis.fields)
            fields.insert(field);
        const bool found =
            std::any_of(axis.rows.begin(), axis.rows.end(), [&](const std::vector<Value>& row) {
                for (std::size_t i = 0; i < axis.fields.size(); ++i) {
                    if (!same(cell.get(axis.fields[i]), &row[i])) return false;
                }
                return true;
            });
        if (!found) return false;
    }
    const bool no_more = std::all_of(all_fields().begin(), all_fields().end(), [&](const FieldInfo& field) {
        return !cell.has(field.field) || fields.contains(field.field);
    });
    return no_more && std::none_of(matrix.exclude.begin(), matrix.exclude.end(),
                                   [&](const Condition& condition) { return matches(condition, cell); });
}

}  // namespace

bool has_product(const Matrix& matrix) {
    return !matrix.axes.empty() || (!matrix.set.empty() && matrix.include.empty());
}

std::vector<RepeatedInclude> repeated_includes(const Matrix& matrix) {
    std::vector<RepeatedInclude> out;
    std::unordered_set<std::string> seen;
    for (std::size_t i = 0; i < matrix.include.size(); ++i) {
        const Cell cell = cell_of(matrix, matrix.include[i]);
        if (in_product(matrix, cell)) {
            out.push_back({i, true});
        } else if (!seen.insert(written_out(cell)).second) {
            out.push_back({i, false});
        }
    }
    return out;
}

void drop_includes(Matrix& matrix, const std::vector<RepeatedInclude>& repeated) {
    for (auto each = repeated.rbegin(); each != repeated.rend(); ++each) {
        const auto offset = static_cast<std::ptrdiff_t>(each->index);
        matrix.include.erase(matrix.include.begin() + offset);
        if (each->index < matrix.include_where.size())
            matrix.include_where.erase(matrix.include_where.begin() + offset);
    }
}

}  // namespace cudamatrix
