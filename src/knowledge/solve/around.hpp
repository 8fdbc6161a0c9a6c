// A cell as slots, and the values around its own that a change of it may try.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "knowledge/facts/facts.hpp"
#include "knowledge/solve/slot.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix::solve {

/// What changes most easily has the smallest number: software, then the driver and the system, then the
/// machine and the work.
[[nodiscard]] std::size_t ease(Field field);

/// The machine and the work: changed only where nothing else helps.
[[nodiscard]] bool is_given(Field field);

/// A slot for each field (and package) that the cell names, with its value and all that the facts know beside
/// it: of an image those of the same repository, kind and system; of `uses` the shorter lists.
[[nodiscard]] std::vector<Slot> slots_around(const Facts& facts, const Cell& cell);

/// The same with the cell's own values only.
[[nodiscard]] std::vector<Slot> slots_of_cell(const Cell& cell);

/// Adds a value, as a fix writes it, to the slots of its field; of packages to those that are named.
void offer(std::vector<Slot>& slots, Field field, const std::string& text);

/// Where the slot has the value (of packages: the release of its own); nothing where it lacks it.
[[nodiscard]] std::optional<std::uint32_t> pick_of(const Slot& slot, const Value& value);

/// The values that the cell has; nothing, or else the first, where it names none.
[[nodiscard]] Picks picks_of(const std::vector<Slot>& slots, const Cell& cell);

/// All values but the present one, the nearest first, of two as near the newer.
[[nodiscard]] std::vector<std::uint32_t> others(const Slot& slot, std::uint32_t present);

}  // namespace cudamatrix::solve
