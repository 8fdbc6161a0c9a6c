// A cell as variables, and the values around its own that a change of it may try.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "knowledge/facts/facts.hpp"
#include "knowledge/solve/variable.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix::solve {

/// What changes most easily has the smallest number: software, then the driver and the system, then the
/// machine and the work.
[[nodiscard]] std::size_t change_cost(Field field);

/// The machine and the work: changed only where nothing else helps.
[[nodiscard]] bool is_given(Field field);

/// A variable for each field (and package) that the cell names, with its value and all that the facts know
/// beside it: of an image those of the same repository, kind and system; of `uses` the shorter lists.
[[nodiscard]] std::vector<Variable> neighbourhood(const Facts& facts, const Cell& cell);

/// The same with the cell's own values only.
[[nodiscard]] std::vector<Variable> variables_of(const Cell& cell);

/// Adds a value, as a fix writes it, to the variables of its field; of packages to those that are named.
void offer(std::vector<Variable>& variables, Field field, const std::string& text);

/// Where the variable has the value (of packages: the release of its own); nothing where it lacks it.
[[nodiscard]] std::optional<std::uint32_t> index_of(const Variable& variable, const Value& value);

/// The values that the cell has; nothing, or else the first, where it names none.
[[nodiscard]] Assignment assignment_of(const std::vector<Variable>& variables, const Cell& cell);

/// All values but the present one, the nearest first, of two as near the newer.
[[nodiscard]] std::vector<std::uint32_t> others(const Variable& variable, std::uint32_t present);

}  // namespace cudamatrix::solve
