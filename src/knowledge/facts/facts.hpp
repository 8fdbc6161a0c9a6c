// The knowledge: tables of rows, each with its source. Embedded at build time, overlaid by a folder (--facts
// DIR).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "knowledge/facts/row.hpp"

namespace cudamatrix {

struct Table {
    std::string_view name;
    std::string_view as_of;
    std::vector<Row> rows;  ///< in the order of the file (natural order of versions)
};

struct KnownProblem;
struct PackageRelease;

namespace facts {
struct ParsedRow;
}

class Facts {
  public:
    /// The tables embedded in this binary.
    [[nodiscard]] static Facts embedded();
    /// The embedded tables with the rows of DIR/*.yaml laid over them: a row replaces the one of the same id,
    /// a new one joins its table. Mistakes in DIR are input failures with file:line:col (schema: see
    /// `check`).
    [[nodiscard]] static Result<Facts> with_overlay(const std::filesystem::path& directory,
                                                    std::string_view today);
    /// The same with several folders, each laid over the ones before it.
    [[nodiscard]] static Result<Facts> with_overlays(const std::vector<std::filesystem::path>& directories,
                                                     std::string_view today);

    /// These facts with rows of another place, checked there, laid over the table of that name in place of
    /// those of an earlier call. A row that a folder gave stays. date() and hash() stay those of what is
    /// below.
    [[nodiscard]] Facts with_rows(std::string_view table, std::span<const facts::ParsedRow> rows) const;

    [[nodiscard]] std::span<const Table> tables() const;
    [[nodiscard]] const Table* table(std::string_view name) const;
    /// The tables with the rows that folders laid over them, and no others; tables without one are left out.
    [[nodiscard]] std::vector<Table> laid_over() const;
    /// The rows of a table, in the order of its file; none where the schema has no such table.
    [[nodiscard]] std::span<const Row> rows(std::string_view table) const;
    [[nodiscard]] std::optional<Row> row(std::string_view id) const;
    /// The row of a table with `aliases` (GPUs) whose name or alias is `name`: case, blanks and hyphens are
    /// ignored, parts do not count.
    [[nodiscard]] std::optional<Row> named(std::string_view name) const;

    /// The rows of known_problems that speak for a rule.
    [[nodiscard]] std::span<const KnownProblem> known_problems(std::string_view rule) const;

    /// All releases of a package (canonical name) that package_releases describes, oldest first. A row of a
    /// release's own comes before one that it shares with others.
    [[nodiscard]] std::span<const PackageRelease> package_releases(std::string_view package) const;

    /// Newest `as_of` of all rows, YYYY-MM-DD.
    [[nodiscard]] std::string date() const;
    /// First 12 hexadecimal digits of the SHA-256 over all rows in a canonical form.
    [[nodiscard]] std::string hash() const;

    /// The self-check of every row: unique ids, sources, dates (none of the past after `today`, YYYY-MM-DD),
    /// confidence, column types, order, cross-references, ranges that neither cross, overlap nor have gaps.
    [[nodiscard]] std::vector<Diagnostic> check(std::string_view today) const;

  private:
    struct Store;
    explicit Facts(std::shared_ptr<const Store> store) : store_(std::move(store)) {}
    std::shared_ptr<const Store> store_;
};

// How old what is known is, on a day that the caller names.

/// A fact looked up more days ago than this is said to be old.
inline constexpr std::int64_t kOldAfterDays = 180;

/// Both YYYY-MM-DD; false where one of them is not.
[[nodiscard]] bool is_old(std::string_view as_of, std::string_view today);

[[nodiscard]] std::size_t old_rows(std::span<const Row> rows, std::string_view today);

/// Oldest `as_of` of the rows, empty where none has one.
[[nodiscard]] std::string oldest_date(std::span<const Row> rows);

/// The day by which half of all rows had been looked up: a few newer ones do not move it.
[[nodiscard]] std::string median_date(std::span<const Table> tables);

}  // namespace cudamatrix
