// The reports about what the program knows: of `facts`, `facts measure`, `facts refresh`, `rules` and
// `kernels`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/rules/rule.hpp"
#include "look/measure/measure.hpp"
#include "look/measure/refresh.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::report {

/// What `facts show` prints from: the tables, and which tool holds them.
struct FactsReport {
    std::span<const Table> tables;
    ToolInfo tool;
    TextOptions text;
    std::string today = {};  ///< YYYY-MM-DD: the day on which a row is old or not
};

/// Every table with the number of its rows by confidence, its date and that of its oldest row.
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

/// What `facts search` found: rows that contain all of the words.
struct FactsFound {
    std::vector<std::string> words;
    std::vector<FoundFact> rows;  ///< in the order of the tables
};

/// Every row of which the id, the table's name or some value holds each of `words`, case ignored.
[[nodiscard]] FactsFound search_facts(const FactsReport& report, const std::vector<std::string>& words);
[[nodiscard]] std::string facts_search_text(const FactsReport& report, const FactsFound& found);
[[nodiscard]] std::string facts_search_json(const FactsReport& report, const FactsFound& found);

/// `facts list --mine`: every row of the report's tables with its sources and date; they are those of
/// `folder`. Without a row one sentence says so.
[[nodiscard]] std::string facts_mine_text(const FactsReport& report, std::string_view folder);
[[nodiscard]] std::string facts_mine_json(const FactsReport& report, std::string_view folder);

/// "N rows in M tables, K unverified, L older than 180 days, 0 mistakes": for facts that passed their
/// self-check.
[[nodiscard]] std::string facts_check_text(const FactsReport& report);
[[nodiscard]] std::string facts_check_json(const FactsReport& report);

/// What `rules` prints from: the list, the facts that its examples are judged by, and the day.
struct RulesReport {
    std::span<const rules::Rule> rules;
    const Facts& facts;
    std::string today;
    ToolInfo tool;
    TextOptions text;
};

/// One line for each rule, then how many there are at each stage.
[[nodiscard]] std::string rules_text(const RulesReport& report);
[[nodiscard]] std::string rules_json(const RulesReport& report);

/// One rule: what it says and why, the fields that it reads, a matrix that fails and one that passes, and
/// what it says about the failing one. An id that no rule has is an input failure with "did you mean".
[[nodiscard]] Result<std::string> rule_text(const RulesReport& report, std::string_view id);
[[nodiscard]] Result<std::string> rule_json(const RulesReport& report, std::string_view id);

/// What `kernels` prints from, besides the suite's own list of tests and faults (kernels/registry.def).
struct KernelsReport {
    ToolInfo tool;
    TextOptions text;
};

/// A line for each test and one for what it proves.
[[nodiscard]] std::string kernels_text(const KernelsReport& report);
[[nodiscard]] std::string kernels_json(const KernelsReport& report);

/// Of each test what it proves, what it compares with, the faults that it names and what it needs; of each
/// fault what it means and the tests that name it. An id of neither is an input failure with the nearest ids.
[[nodiscard]] Result<std::string> kernel_text(const KernelsReport& report,
                                              const std::vector<std::string>& ids);
[[nodiscard]] Result<std::string> kernel_json(const KernelsReport& report,
                                              const std::vector<std::string>& ids);

/// What `kernels build` made.
struct KernelsBuildReport {
    ToolInfo tool;
    std::string folder;                ///< with the programs
    std::string nvcc;                  ///< its release: 13.0.88
    std::vector<std::string> compute;  ///< SASS targets
    std::string ptx;                   ///< also embedded as PTX
    std::string glibc;    ///< of this machine: what another one needs at most; empty: another C library
    bool whole = false;   ///< every program compiled
    std::string summary;  ///< of static.compile
    std::vector<std::string> errors;  ///< a source that did not compile, and nvcc's line about it
};

[[nodiscard]] std::string kernels_build_text(const KernelsBuildReport& report);
[[nodiscard]] std::string kernels_build_json(const KernelsBuildReport& report);

struct MeasureReport {
    const measure::Measured& measured;
    const Facts& facts;     ///< that it was compared with
    std::string out;        ///< the folder of the rows
    bool accepted = false;  ///< contradicting rows were written, too
};

/// What contradicts the facts beside what they say, what could not be measured, then the counts.
[[nodiscard]] std::string measured_text(const MeasureReport& report);
[[nodiscard]] std::string measured_json(const MeasureReport& report);

struct RefreshReport {
    const measure::Refreshed& refreshed;
    const Facts& facts;
    std::string out;
};

/// A line for each change, for each row, and for what was not measured or not reached, then the counts.
[[nodiscard]] std::string refreshed_text(const RefreshReport& report);
[[nodiscard]] std::string refreshed_json(const RefreshReport& report);

}  // namespace cudamatrix::report
