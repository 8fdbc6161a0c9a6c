// What a search may vary, the values that the facts know for it, and those around the ones of a cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/facts/facts.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix::solve {

/// One field of a cell, or the release of one package of it, with the values that it may take.
struct Variable {
    Field field = Field::driver;
    std::string package = {};                    ///< of Field::packages: which one; else empty
    std::vector<std::optional<Value>> values{};  ///< best first (newest); nothing: the cell does not name it
    bool ordered = false;  ///< the order is one of versions: older and newer mean something
    std::set<std::string, std::less<>> yanked = {};  ///< texts of values that their authors took back

    /// "driver", "transformers".
    [[nodiscard]] std::string_view name() const { return package.empty() ? info(field).name : package; }
    /// The index of the value with that text.
    [[nodiscard]] std::optional<std::uint32_t> find(std::string_view text) const;
    [[nodiscard]] bool is_yanked(std::uint32_t index) const;
    /// The index of "the cell does not name it".
    [[nodiscard]] std::optional<std::uint32_t> nothing() const;
    /// Puts a value at its place in the order (at the end where there is none), unless it is there already.
    /// Gives its index: those behind it move.
    std::uint32_t add(Value value);
    /// The same at a place of one's own.
    void insert(std::uint32_t at, Value value);
};

/// One value of each variable, by index.
using Assignment = std::vector<std::uint32_t>;

/// In the place of an index: of this variable nothing is said yet.
inline constexpr std::uint32_t kUnassigned = std::numeric_limits<std::uint32_t>::max();

/// Which values each variable may take, best first.
using Domains = std::vector<std::vector<std::uint32_t>>;

/// The domains without values that were yanked, but for those of variables that would have no value left.
[[nodiscard]] Domains without_yanked(const std::vector<Variable>& variables, Domains domains);

/// The domains with values that were yanked behind all others.
[[nodiscard]] Domains yanked_last(const std::vector<Variable>& variables, Domains domains);

/// What `attempt` finds without values that were yanked; with them where there is no other. Where nothing is
/// found, which takes longest, it is asked once only.
template <class Attempt>
[[nodiscard]] std::optional<Assignment> prefer_kept(const std::vector<Variable>& variables,
                                                    const Domains& domains, const Attempt& attempt) {
    const auto kept = without_yanked(variables, domains);
    if (kept == domains) return attempt(domains);
    auto found = attempt(yanked_last(variables, domains));
    for (std::size_t i = 0; found && i < variables.size(); ++i) {
        if (!variables[i].is_yanked((*found)[i])) continue;
        if (auto better = attempt(kept)) return better;
        break;
    }
    return found;
}

/// Every value that the facts know for the field, newest first: releases of drivers with the floors that
/// other facts name, wheels of torch with their CUDA variant (CPU builds are left out), GPUs by compute
/// capability. Empty for fields without a table.
[[nodiscard]] Variable variable_of(const Facts& facts, Field field);

/// The releases of a package, newest first; empty where no fact lists them.
[[nodiscard]] Variable variable_of_package(const Facts& facts, std::string_view package);

/// Every package that some fact is about, for "did you mean".
[[nodiscard]] std::vector<std::string> package_names(const Facts& facts);

// A cell as a row of a matrix file.

/// "{driver: "470.161.03", gpu: "T4", torch: "1.13.1+cu117", packages: {transformers: "4.27.4"}}": what
/// stands under `include:` (behind "- ") or, as one cell, under `set:`. Every scalar is quoted, so that no
/// version is read as a number. A list of one stays a list.
[[nodiscard]] std::string row_text(const Cell& cell);

// A cell as variables, and the values around its own that a change of it may try.

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
