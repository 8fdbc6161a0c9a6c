#include "matrix/product.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "matrix/condition.hpp"

namespace cudamatrix {
namespace {

constexpr std::size_t kBits = 64;

void set_bit(Exclusion::Mask& mask, std::size_t bit) {
    mask[bit / kBits] |= std::uint64_t{1} << (bit % kBits);
}
bool test_bit(const Exclusion::Mask& mask, std::size_t bit) {
    return (mask[bit / kBits] >> (bit % kBits) & 1u) != 0;
}

bool on_axis(const Matrix& matrix, Field field) {
    return std::any_of(matrix.axes.begin(), matrix.axes.end(), [&](const Axis& axis) {
        return std::find(axis.fields.begin(), axis.fields.end(), field) != axis.fields.end();
    });
}

using Tests = std::vector<ClauseTest>;

bool row_allows(const Tests& tests, const Axis& axis, const std::vector<std::vector<Operand>>& row) {
    return std::all_of(tests.begin(), tests.end(), [&](const ClauseTest& test) {
        const auto found = std::find(axis.fields.begin(), axis.fields.end(), test.field());
        return found == axis.fields.end() ||
               test.holds(row[static_cast<std::size_t>(found - axis.fields.begin())]);
    });
}

// Whether `set` leaves the exclude a chance: a field that is on no axis has one value or none.
bool set_allows(const Matrix& matrix, const Tests& tests) {
    const Cell cell = cell_of(matrix, {});
    return std::all_of(tests.begin(), tests.end(), [&](const ClauseTest& test) {
        return on_axis(matrix, test.field()) || test.holds(operands_of(test.field(), cell.get(test.field())));
    });
}

}  // namespace

Exclusion::Exclusion(const Matrix& matrix) : excludes_(matrix.exclude.size()) {
    const std::size_t words = (excludes_ + kBits - 1) / kBits;
    std::vector<Tests> excludes;
    for (const Condition& condition : matrix.exclude) {
        excludes.emplace_back(condition.clauses.begin(), condition.clauses.end());
    }
    start_.assign(words, 0);
    for (std::size_t i = 0; i < excludes_; ++i) {
        if (has_product(matrix) && set_allows(matrix, excludes[i])) set_bit(start_, i);
    }
    for (const Axis& axis : matrix.axes) {
        auto& masks = rows_.emplace_back();
        for (const auto& row : axis.rows) {
            std::vector<std::vector<Operand>> operands;
            for (std::size_t i = 0; i < row.size(); ++i)
                operands.push_back(operands_of(axis.fields[i], &row[i]));
            Mask& mask = masks.emplace_back(words, 0);
            for (std::size_t i = 0; i < excludes_; ++i) {
                if (row_allows(excludes[i], axis, operands)) set_bit(mask, i);
            }
        }
    }
}

std::vector<std::size_t> Exclusion::covering_nothing() const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < excludes_; ++i) {
        const bool covers = test_bit(start_, i) &&
                            std::all_of(rows_.begin(), rows_.end(), [&](const std::vector<Mask>& axis) {
                                return std::any_of(axis.begin(), axis.end(),
                                                   [&](const Mask& mask) { return test_bit(mask, i); });
                            });
        if (!covers) out.push_back(i);
    }
    return out;
}

bool Exclusion::any(const Mask& mask) {
    return std::any_of(mask.begin(), mask.end(), [](std::uint64_t word) { return word != 0; });
}

Exclusion::Mask Exclusion::both(const Mask& a, const Mask& b) {
    Mask out(a.size());
    std::transform(a.begin(), a.end(), b.begin(), out.begin(),
                   [](std::uint64_t x, std::uint64_t y) { return x & y; });
    return out;
}

namespace {

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

Cell cell_of(const Matrix& matrix, const std::vector<std::pair<Field, Value>>& row) {
    Cell cell;
    for (const auto& [field, value] : matrix.set)
        cell.set(field, &value);
    for (const auto& [field, value] : row)
        cell.set(field, &value);
    return cell;
}

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
