#include "matrix/matrix.hpp"

#include <limits>
#include <map>

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
        : matrix_(matrix), visit_(visit), exclusion_(matrix) {
        for (const auto& [field, value] : matrix.set)
            cell_.set(field, &value);
    }

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
        Cell cell;
        for (const auto& [field, value] : matrix.set)
            cell.set(field, &value);
        for (const auto& [field, value] : row)
            cell.set(field, &value);
        cell.index = index;
        index = add(index, 1);
        if (!visit(cell)) return;
    }
}

std::optional<std::uint64_t> count_cells(const Matrix& matrix, std::uint64_t limit) {
    if (!has_product(matrix)) return matrix.include.size();
    const Exclusion exclusion(matrix);
    // How many partial cells share a set of excludes that could still cover them. Distinct sets are few, so
    // that the product itself need not be walked.
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

}  // namespace cudamatrix
