// What stands behind Facts: the tables, who owns their text, and the indexes.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/facts/known_problems.hpp"
#include "knowledge/facts/lookup.hpp"

namespace cudamatrix::facts {

// One file of facts as a table of rows. Shared by the build-time generator and by --facts DIR, so that both
// read the same.

struct ParsedColumn {
    std::string name;
    std::vector<std::string> values;  ///< a scalar has one
    bool is_list = false;
};

struct ParsedRow {
    Location where;
    std::vector<ParsedColumn> columns;

    [[nodiscard]] std::string_view text(std::string_view column) const;
};

struct ParsedTable {
    std::string name;
    std::string as_of;
    std::vector<ParsedRow>
        rows;  ///< each with its own `as_of` column: the table's date where the row gives none
};

/// Rows of one's own, which live as long as this: of a folder that is laid over the tables.
class OwnRows {
  public:
    explicit OwnRows(std::span<const ParsedRow> rows);
    OwnRows(const OwnRows&) = delete;
    OwnRows& operator=(const OwnRows&) = delete;

    [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

  private:
    [[nodiscard]] std::uint32_t add(std::string_view text);

    std::string text_;
    std::vector<TextAt> texts_;
    std::vector<ColumnAt> columns_;
    Pool pool_;
    std::vector<Row> rows_;
};

/// Reads `table:`, `as_of:` and `rows:` (a list of flat maps of scalars and lists of scalars; null means
/// "absent"). What is not of that form is an input failure with file:line:col; what the values mean is judged
/// by Facts::check.
[[nodiscard]] Result<ParsedTable> read_table(std::string_view text, std::string_view file_name);

}  // namespace cudamatrix::facts

namespace cudamatrix {

struct Facts::Store {
    struct Position {
        std::size_t table = 0;
        std::size_t row = 0;
    };

    bool is_embedded = false;  ///< exactly the tables of the binary, nothing laid over them
    std::vector<Table> tables;
    std::vector<std::vector<Location>> where;  ///< of each row; nowhere for those that no folder gave
    /// What the rows of Facts::with_rows lie over, and where the text of all others is.
    std::shared_ptr<const Store> below;

    /// Lays `parsed` over the table of its name.
    void merge(std::size_t table, const facts::ParsedTable& parsed);
    /// Lays rows over what is `below`, but for those that a folder gave.
    void lay(std::size_t table, std::span<const facts::ParsedRow> parsed);
    /// Sorts the rows of every table by id and builds the indexes. To be called once, when all rows are
    /// there.
    void finish();

    [[nodiscard]] Row at(Position position) const { return tables[position.table].rows[position.row]; }

    std::pmr::monotonic_buffer_resource memory_;  ///< of by_id: given back at once
    std::pmr::unordered_map<std::string_view, Position> by_id{&memory_};
    std::unordered_map<std::string, Position> by_name;

    /// Facts::known_problems. Those of a rule are read when first asked for: few cells meet all rules.
    [[nodiscard]] std::span<const KnownProblem> problems(std::string_view rule) const;
    /// Facts::package_releases. Made when first asked for: nobody asks for most packages.
    [[nodiscard]] std::span<const PackageRelease> releases(std::string_view package) const;

  private:
    void sort(std::size_t table);
    [[nodiscard]] std::vector<PackageRelease> read_releases(std::string_view package) const;

    struct Problems {
        std::once_flag read;
        std::vector<KnownProblem> rows;
    };
    mutable std::array<Problems, facts::kProblemRules> problems_;  ///< in the order of problem_rules

    mutable std::mutex releases_mutex_;
    mutable std::map<std::string, std::vector<PackageRelease>, std::less<>> releases_;

    // Owners of overlaid text; a deque does not move what it holds.
    std::deque<facts::OwnRows> rows_;
    std::deque<std::string> dates_;
};

namespace facts {

/// "gpu-a16" before "gpu-a100": runs of digits compare as numbers.
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b);

/// A name as it is compared: lower case, without blanks and hyphens.
[[nodiscard]] std::string folded(std::string_view name);

}  // namespace facts
}  // namespace cudamatrix
