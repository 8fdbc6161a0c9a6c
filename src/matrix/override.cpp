// with_override: a matrix as if one field had one value everywhere.
#include <algorithm>
#include <set>

#include "matrix/cell_id.hpp"
#include "matrix/matrix.hpp"
#include "matrix/product_lookup.hpp"
#include "matrix/value.hpp"

namespace cudamatrix {
namespace {

bool override_axes(Matrix& matrix, Field field, const Value& value) {
    bool found = false;
    for (Axis& axis : matrix.axes) {
        const auto at = std::find(axis.fields.begin(), axis.fields.end(), field);
        if (at == axis.fields.end()) continue;
        found = true;
        const auto column = static_cast<std::size_t>(at - axis.fields.begin());
        std::set<std::vector<std::string>> seen;
        std::vector<std::vector<Value>> rows;
        for (auto& row : axis.rows) {
            row[column] = value;
            std::vector<std::string> texts;
            for (const Value& each : row)
                texts.push_back(each.text);
            if (seen.insert(std::move(texts)).second) rows.push_back(std::move(row));
        }
        axis.rows = std::move(rows);
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

}  // namespace

Result<Matrix> with_override(const Matrix& matrix, Field field, std::string_view text) {
    auto parsed = value_from_text(field, text);
    if (auto* problem = std::get_if<ValueProblem>(&parsed))
        return input_failure(problem->message, problem->fix);
    Value value = std::get<Value>(std::move(parsed));
    value.where = {matrix.path, 0, 0, 1};

    Matrix out = matrix;
    out.expect_cells.reset();
    out.warnings.clear();
    const bool had_product = has_product(out);
    const bool on_axis = override_axes(out, field, value);
    const bool in_set = override_pairs(out.set, field, value);
    if (had_product && !on_axis && !in_set) out.set.emplace_back(field, value);
    for (auto& row : out.include) {
        if (!override_pairs(row, field, value)) row.emplace_back(field, value);
    }
    out.named.insert(field);
    // Overriding can make includes equal to each other or to the product; a cell exists once.
    drop_includes(out, repeated_includes(out));
    out.shared_segments = shared_segments(out);
    return out;
}

}  // namespace cudamatrix
