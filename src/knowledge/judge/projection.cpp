#include "knowledge/judge/projection.hpp"

#include <algorithm>

namespace cudamatrix::rules {
namespace {

// Entries of a dense table (4 bytes each): the matrices that people write fit, and nothing is hashed.
constexpr std::uint64_t kDense = 1u << 20;

}  // namespace

Projection::Projection(const Matrix& matrix, FieldSet fields) {
    std::uint64_t size = 1;
    // Positions beyond 2^64 never come up: a matrix of so many cells is refused.
    for (std::size_t i = matrix.axes.size(); i-- > 0;) {
        const auto& axis = matrix.axes[i];
        if (std::none_of(axis.fields.begin(), axis.fields.end(),
                         [&](Field field) { return fields.contains(field); }))
            continue;
        axes_.emplace_back(i, size);
        size *= axis.rows.size();
        is_dense_ = is_dense_ && size <= kDense;
    }
    if (is_dense_) dense_.assign(size, 0);
}

}  // namespace cudamatrix::rules
