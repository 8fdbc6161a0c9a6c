#include "matrix/matrix.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "matrix/product.hpp"
#include "matrix/value.hpp"

namespace cudamatrix {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::uint64_t add(std::uint64_t a, std::uint64_t b) {
    return a > kMost - b ? kMost : a + b;
}
std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
    return b != 0 && a > kMost / b ? kMost : a * b;
}

// Walks the product depth first, last axis fastest.
class Walk {
  public:
    Walk(const Matrix& matrix, const std::function<bool(const Cell&)>& visit)
        : matrix_(matrix), visit_(visit), exclusion_(matrix), cell_(cell_of(matrix, {})) {}

    // False when the visitor wants no more.
    bool product() { return descend(0, exclusion_.start()); }

  private:
    bool descend(std::size_t depth, const Exclusion::Mask& mask) {
        if (depth == matrix_.axes.size()) {
            cell_.index = next_++;
            return Exclusion::any(mask) || visit_(cell_);
        }
        const Axis& axis = matrix_.axes[depth];
        for (std::size_t row = 0; row < axis.rows.size(); ++row) {
            for (std::size_t i = 0; i < axis.fields.size(); ++i)
                cell_.set(axis.fields[i], &axis.rows[row][i]);
            if (!descend(depth + 1, Exclusion::both(mask, exclusion_.row(depth, row)))) return false;
        }
        return true;
    }

    const Matrix& matrix_;
    const std::function<bool(const Cell&)>& visit_;
    Exclusion exclusion_;
    Cell cell_;
    std::uint64_t next_ = 0;
};

constexpr std::size_t kLongest = 100;
constexpr std::size_t kValueHash = 8;
constexpr std::size_t kIdHash = 12;

// '-' joins the segments, so that none holds one: names lose their separators (rtx4090, gcc11), others get
// '_'.
std::string slug(Field field, std::string_view text) {
    const bool is_name = info(field).syntax == Syntax::name;
    std::string out;
    for (const char c : text::lower(text)) {
        if (is_name && (c == ' ' || c == '-')) continue;
        out += text::is_word(c) || c == '.' ? c : '_';
    }
    return out;
}

std::string plain_segment(Field field, const std::string& text) {
    return std::string(info(field).id_prefix) + slug(field, text);
}

std::string segment_of(const Matrix& matrix, Field field, const Value& value) {
    auto segment = plain_segment(field, value.text);
    if (std::binary_search(matrix.shared_segments.begin(), matrix.shared_segments.end(), segment)) {
        segment += "_" + sha256(fmt::format("{}={}", info(field).name, value.text)).substr(0, kValueHash);
    }
    return segment;
}

}  // namespace

std::uint64_t product_size(const Matrix& matrix) {
    std::uint64_t size = has_product(matrix) ? 1 : 0;
    for (const Axis& axis : matrix.axes)
        size = multiply(size, axis.rows.size());
    return size;
}

void for_each_cell(const Matrix& matrix, const std::function<bool(const Cell&)>& visit) {
    if (has_product(matrix) && !Walk(matrix, visit).product()) return;
    for_each_include(matrix, visit);
}

void for_each_include(const Matrix& matrix, const std::function<bool(const Cell&)>& visit) {
    std::uint64_t index = product_size(matrix);
    for (const auto& row : matrix.include) {
        Cell cell = cell_of(matrix, row);
        cell.index = index;
        index = add(index, 1);
        if (!visit(cell)) return;
    }
}

std::optional<std::uint64_t> count_cells(const Matrix& matrix, std::uint64_t limit) {
    if (!has_product(matrix)) return matrix.include.size();
    const Exclusion exclusion(matrix);
    // How many partial cells share a set of excludes that could still cover them: distinct sets are few.
    std::map<Exclusion::Mask, std::uint64_t> partial{{exclusion.start(), 1}};
    std::uint64_t steps = 0;
    for (std::size_t axis = 0; axis < matrix.axes.size(); ++axis) {
        std::map<Exclusion::Mask, std::uint64_t> next;
        for (const auto& [mask, number] : partial) {
            for (std::size_t row = 0; row < matrix.axes[axis].rows.size(); ++row) {
                if (++steps > limit) return std::nullopt;
                auto& total = next[Exclusion::both(mask, exclusion.row(axis, row))];
                total = add(total, number);
            }
        }
        partial = std::move(next);
    }
    std::uint64_t cells = 0;
    for (const auto& [mask, number] : partial) {
        if (!Exclusion::any(mask)) cells = add(cells, number);
    }
    return add(cells, matrix.include.size());
}

std::vector<std::string> shared_segments(const Matrix& matrix) {
    // Whatever the field: a cell may lack fields, so that a segment's place does not tell its field.
    std::map<std::string, std::set<std::pair<Field, std::string>>> origins;
    const auto note = [&](Field field, const Value& value) {
        origins[plain_segment(field, value.text)].emplace(field, value.text);
    };
    for (const Axis& axis : matrix.axes) {
        for (const auto& row : axis.rows) {
            for (std::size_t i = 0; i < axis.fields.size(); ++i)
                note(axis.fields[i], row[i]);
        }
    }
    for (const auto& [field, value] : matrix.set)
        note(field, value);
    for (const auto& row : matrix.include) {
        for (const auto& [field, value] : row)
            note(field, value);
    }
    std::vector<std::string> shared;
    for (const auto& [segment, values] : origins) {
        if (values.size() > 1) shared.push_back(segment);
    }
    return shared;
}

std::string cell_id(const Matrix& matrix, const Cell& cell) {
    std::string id;
    std::string whole;  // what the hash of a shortened id stands for
    for (const FieldInfo& field : all_fields()) {
        if (!matrix.named.contains(field.field)) continue;
        const Value* value = cell.get(field.field);
        if (value == nullptr) continue;
        if (!id.empty()) id += '-';
        id += segment_of(matrix, field.field, *value);
        whole += fmt::format("{}={}\n", field.name, value->text);
    }
    if (id.size() <= kLongest) return id;
    id.resize(kLongest - kIdHash - 1);
    id.erase(id.find_last_not_of("-._") + 1);
    return fmt::format("{}-{}", id, sha256(whole).substr(0, kIdHash));
}

// A matrix as if fields had other values than its file says.

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
    matrix.expect = {};
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
