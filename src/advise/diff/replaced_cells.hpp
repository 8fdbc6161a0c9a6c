// Cells that another value made others: a driver that moved on is no loss of one cell and gain of another.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "knowledge/judge/judge.hpp"

namespace cudamatrix::diff {

using CellsById = std::map<std::string, const JudgedCell*, std::less<>>;

/// A field with another value; empty: the cell has none.
struct ValueChange {
    std::string field, before, now;
    friend auto operator<=>(const ValueChange&, const ValueChange&) = default;
};

struct ReplacedCell {
    std::string before, now;           ///< ids
    std::vector<ValueChange> changes;  ///< in the order of the fields
};

/// Of cells that are gone and cells that are new the pairs that differ in the values of one field, or of two
/// (cuda and torch, zipped), where nothing else could be meant: no third cell is like them otherwise. In the
/// order of `gone`.
[[nodiscard]] std::vector<ReplacedCell> replaced_cells(const CellsById& gone, const CellsById& fresh);

}  // namespace cudamatrix::diff
