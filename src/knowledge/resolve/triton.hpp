// The triton of a cell: the one among its packages, else the one that torch pins.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/facts/pep440.hpp"
#include "knowledge/resolve/context.hpp"
#include "knowledge/resolve/resolve.hpp"

namespace cudamatrix::rules {

/// A triton that `packages` names: triton, or triton-windows, which counts as the triton of the same number.
struct NamedTriton {
    std::string package;
    std::string text;  ///< "triton 3.5.0"
    std::optional<Version> version;
};
[[nodiscard]] std::optional<NamedTriton> named_triton(const Context& context);

/// The triton release that the cell runs, where facts tell.
struct CellTriton {
    Field field = Field::torch;  ///< where it comes from
    std::string text;            ///< "triton 3.4.0", "the triton 3.4.0 of torch 2.8.0+cu128"
    std::optional<Row> row;      ///< of triton_releases
    std::vector<FactRef> facts;
};
/// Nothing where the cell has none: no torch, one before 2.0, a CPU build, or a system or processor for which
/// torch pins none.
[[nodiscard]] std::optional<CellTriton> cell_triton(const Context& context);

}  // namespace cudamatrix::rules
