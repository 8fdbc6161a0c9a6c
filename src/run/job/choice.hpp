// Which images and cells a command attempts: --only, --cell, --where, --failed, --max-images.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "matrix/cell_pattern.hpp"
#include "matrix/condition.hpp"

namespace cudamatrix {

/// The whole matrix is judged and planned; this narrows what is done of it. Each part narrows what the others
/// leave; of one that has several words any will do.
struct Choice {
    std::vector<std::string> images;  ///< Image::id
    std::vector<CellPattern> cells;
    Condition where;
    std::string where_text;       ///< as it was given; empty: it was not
    bool failed = false;          ///< images whose last run failed or did not finish
    std::size_t most_images = 0;  ///< more are refused; 0: any number is welcome

    /// Whether a cell is one of --cell and --where; what of its image is chosen is not asked.
    [[nodiscard]] bool means(const std::string& cell_id, const Cell& cell) const;
    /// Whether it can leave anything out.
    [[nodiscard]] bool narrows() const {
        return !images.empty() || !cells.empty() || !where_text.empty() || failed;
    }
};

}  // namespace cudamatrix
