// A matrix as if fields had other values than its file says.
#include <algorithm>
#include <set>
#include <utility>

#include "matrix/matrix.hpp"
#include "matrix/override.hpp"
#include "matrix/product.hpp"
#include "matrix/value.hpp"

namespace cudamatrix {
namespace {

// Rows that say the same in all their fields are one.
void keep_distinct(Axis& axis) {
    std::set<std::vector<std::string>> seen;
    std::erase_if(axis.rows, [&](const std::vector<Value>& row) {
        std::vector<std::string> texts;
        for (const Value& each : row)
            texts.push_back(each.text);
        return !seen.insert(std::move(texts)).second;
    });
}

bool override_axes(Matrix& matrix, Field field, const Value& value) {
    bool found = false;
    for (Axis& axis : matrix.axes) {
        const auto at = std::find(axis.fields.begin(), axis.fields.end(), field);
        if (at == axis.fields.end()) continue;
        found = true;
        const auto column = static_cast<std::size_t>(at - axis.fields.begin());
        for (auto& row : axis.rows)
            row[column] = value;
        keep_distinct(axis);
    }
    return found;
}

bool override_pairs(std::vector<std::pair<Field, Value>>& pairs, Field field, const Value& value) {
    const auto at =
        std::find_if(pairs.begin(), pairs.end(), [&](const auto& entry) { return entry.first == field; });
    if (at == pairs.end()) return false;
    at->second = value;
    return true;
}

bool is_one_of(const std::vector<Field>& fields, Field field) {
    return std::find(fields.begin(), fields.end(), field) != fields.end();
}

void drop_fields(Matrix& matrix, const std::vector<Field>& fields) {
    for (Axis& axis : matrix.axes) {
        for (std::size_t f = axis.fields.size(); f-- > 0;) {
            if (!is_one_of(fields, axis.fields[f])) continue;
            const auto column = static_cast<std::ptrdiff_t>(f);
            axis.fields.erase(axis.fields.begin() + column);
            for (auto& row : axis.rows)
                row.erase(row.begin() + column);
        }
        keep_distinct(axis);
    }
    std::erase_if(matrix.axes, [](const Axis& axis) { return axis.fields.empty(); });
    const auto is_dropped = [&](const auto& pair) { return is_one_of(fields, pair.first); };
    std::erase_if(matrix.set, is_dropped);
    for (auto& row : matrix.include)
        std::erase_if(row, is_dropped);
}

// What every change of values asks for: a cell exists once, and ids are told apart by what is there now.
Matrix settled(Matrix matrix) {
    matrix.expect_cells.reset();
    matrix.warnings.clear();
    drop_includes(matrix, repeated_includes(matrix));
    matrix.shared_segments = shared_segments(matrix);
    return matrix;
}

}  // namespace

Matrix with_rows(const Matrix& matrix, const std::vector<Field>& fields,
                 const std::vector<std::vector<Value>>& rows, const std::vector<Field>& without) {
    Matrix out = matrix;
    const bool had_product = has_product(matrix);
    drop_fields(out, fields);
    drop_fields(out, without);
    if (had_product) out.axes.push_back({fields, rows, {}});
    const auto includes = std::exchange(out.include, {});
    out.include_where.clear();
    for (std::size_t i = 0; i < includes.size(); ++i) {
        for (const auto& row : rows) {
            auto& include = out.include.emplace_back(includes[i]);
            for (std::size_t f = 0; f < fields.size(); ++f)
                include.emplace_back(fields[f], row[f]);
            out.include_where.push_back(i < matrix.include_where.size() ? matrix.include_where[i]
                                                                        : Location{});
        }
    }
    for (const Field field : fields)
        out.named.insert(field);
    return settled(std::move(out));
}

Result<Matrix> with_override(const Matrix& matrix, Field field, std::string_view text,
                             const Location& where) {
    auto parsed = value_from_text(field, text);
    if (auto* problem = std::get_if<ValueProblem>(&parsed))
        return input_failure(problem->message, problem->fix);
    Value value = std::get<Value>(std::move(parsed));
    value.where = where;

    Matrix out = matrix;
    const bool had_product = has_product(out);
    const bool on_axis = override_axes(out, field, value);
    const bool in_set = override_pairs(out.set, field, value);
    if (had_product && !on_axis && !in_set) out.set.emplace_back(field, value);
    for (auto& row : out.include) {
        if (!override_pairs(row, field, value)) row.emplace_back(field, value);
    }
    out.named.insert(field);
    return settled(std::move(out));
}

}  // namespace cudamatrix
