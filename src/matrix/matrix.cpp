#include "matrix/matrix.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "matrix/product.hpp"

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

}  // namespace cudamatrix
