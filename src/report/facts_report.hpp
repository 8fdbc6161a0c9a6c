// The reports of `facts show`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "facts/facts.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::report {

/// What `facts show` prints from: the tables, and which tool holds them.
struct FactsReport {
    std::span<const Table> tables;
    ToolInfo tool;
    TextOptions text;
};

/// Every table with the number of its rows by confidence.
[[nodiscard]] std::string facts_text(const FactsReport& report);
[[nodiscard]] std::string facts_json(const FactsReport& report);

/// One row with all its columns, sources, date and confidence; or, where `id` is the name of a table, its
/// rows. An id that nothing has is an input failure with "did you mean".
[[nodiscard]] Result<std::string> fact_text(const FactsReport& report, std::string_view id);
[[nodiscard]] Result<std::string> fact_json(const FactsReport& report, std::string_view id);

/// The row or the table of that name; exactly one of the two is set.
struct FoundFact {
    const Table* table = nullptr;
    const Row* row = nullptr;  ///< nullptr: the table itself
};
[[nodiscard]] Result<FoundFact> find_fact(const FactsReport& report, std::string_view id);

}  // namespace cudamatrix::report
