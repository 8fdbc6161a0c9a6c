// What two sets of facts say otherwise, row by row.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/facts/facts.hpp"

namespace cudamatrix::diff {

/// What became of a row. One that was `checked` again says what it said: only its date or its sources are
/// others.
enum class RowChange : std::uint8_t { added, gone, changed, checked };
[[nodiscard]] std::string_view to_string(RowChange change);

/// A column that says something else: "525.60.13", or "x86_64, aarch64" of a list; empty: there is none.
struct ColumnChange {
    std::string name, before, now;
};

struct FactChange {
    RowChange change = RowChange::added;
    std::string table, id;
    std::vector<ColumnChange> columns = {};  ///< of `changed` and `checked`, in the order of the table
    std::vector<std::string> sources = {};   ///< of the row now; of one that is gone, its last
    std::string as_of = {};                  ///< likewise
};

/// Every row that differs, in the order of the tables of `now`, then of those that only `before` has; what is
/// gone comes last in its table.
[[nodiscard]] std::vector<FactChange> compare_facts(std::span<const Table> before,
                                                    std::span<const Table> now);

}  // namespace cudamatrix::diff
