// Many cells on one screen: verdicts over two groups of fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "knowledge/judge/judge.hpp"

namespace cudamatrix::report {

/// Verdicts over two groups of fields: those of the host (driver, gpu ...) as columns, those of the image as
/// rows. The fields are chosen by what decides: each is the one that leaves the fewest entries with more than
/// one verdict, as long as the grid fits.
struct Grid {
    std::vector<std::string> row_fields;
    std::vector<std::string> column_fields;
    std::vector<std::vector<std::string>> rows;       ///< values by row field
    std::vector<std::vector<std::string>> columns;    ///< values by column field
    std::vector<std::vector<std::uint8_t>> verdicts;  ///< [row][column]: bit 1 << Verdict; 0: no such cell
};

/// At most 40 rows; `width`: columns of a terminal that its text may take.
[[nodiscard]] Grid grid_of(const Judgement& judgement, std::size_t width);

/// "A", or "RA" where other fields decide; "." where there is no cell.
[[nodiscard]] std::string letters(std::uint8_t verdicts);

/// What the letters of the grid mean.
[[nodiscard]] std::string legend(const Grid& grid);

/// The columns that its text takes.
[[nodiscard]] std::size_t grid_width(const Grid& grid);

/// The grid with its legend.
[[nodiscard]] std::string grid_text(const Grid& grid, bool colour);

}  // namespace cudamatrix::report
