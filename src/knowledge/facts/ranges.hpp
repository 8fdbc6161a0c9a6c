// What holds between the values of the tables, beyond the form of each (schema.hpp): data for check_ranges.
// Private to src/facts.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/facts/facts.hpp"

namespace cudamatrix::facts {

// A version covers those that it begins: 11 is not below 11.3, since it stands for all of them. So does a
// month for its days. What a row does not have says nothing.

/// A day that has been: it is not after today. Of as_of this holds in every table.
struct Past {
    std::string_view table, column;
};

/// In one row: `lower` is not above `upper`, and below it where this is strict.
struct Order {
    std::string_view table, lower, upper;
    bool strict = false;
};

/// In one row: each value of `part` is a release of `whole`, as 12.4.1 is one of 12.4.
struct Part {
    std::string_view table, whole, part;
};

/// From row to row in the order of `along`, `column` does not fall, and rises where this is strict.
struct Rise {
    std::string_view table, column, along;
    bool strict = false;
    std::string_view within = {};  ///< only among the rows that have the same value there
    bool each_minor = false;       ///< only among the rows of the same minor of `along`
};

/// One side by which two rows can be apart: a range from `column` to `upper`, or the values of one column
/// (specifiers: the versions that they admit).
struct Side {
    std::string_view column, upper = {};
};

/// No two rows of the table overlap on all of these sides.
struct Apart {
    std::string_view table;
    std::array<Side, 4> sides;
};

/// In the order of `lower`, each row begins with the minor that follows `upper` of the row before, where both
/// are of one major. `skipped`: "table.column" of minors that never were.
struct Gapless {
    std::string_view table, lower, upper;
    std::string_view skipped = {};
};

/// Each value of `column` is bound by `bound` of those rows of another table whose `key` is in `via`.
struct Bound {
    std::string_view table, column;
    enum class Is { at_least, at_most } is;
    std::string_view via;
    std::string_view other, key, bound;
};

/// No value of the column stands in "table.column".
struct Foreign {
    std::string_view table, column, other;
};

struct Ranges {
    std::span<const Past> past;
    std::span<const Order> orders;
    std::span<const Part> parts;
    std::span<const Rise> rises;
    std::span<const Apart> apart;
    std::span<const Gapless> gapless;
    std::span<const Bound> bounds;
    std::span<const Foreign> foreign;
};

[[nodiscard]] const Ranges& all_ranges();

/// Below 0, 0 or above 0 as `a` is below, among or above what `b` stands for; nothing where one is neither a
/// date nor a version.
[[nodiscard]] std::optional<int> compare(std::string_view a, std::string_view b);
[[nodiscard]] bool overlap(const Row& a, const Row& b, const Apart& apart);
/// "package vllm; versions >=1 beside >=2": by what a row could be apart from another one.
[[nodiscard]] std::string sides(const Row& own, const Row& other, const Apart& apart);

/// Where a row stands: an embedded one in the table's own file.
[[nodiscard]] Location place_of(const Table& table, const Location& overlaid);

/// What of it does not hold; of two rows that contradict each other the overlaid one is wrong.
[[nodiscard]] std::vector<Diagnostic> check_ranges(std::span<const Table> tables,
                                                   const std::vector<std::vector<Location>>& where,
                                                   std::string_view today);

}  // namespace cudamatrix::facts
