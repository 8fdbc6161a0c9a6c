// A matrix as the user wrote it, every value with its place in the file: names and versions are text until
// facts look them up.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/image_reference.hpp"
#include "matrix/deployment/services.hpp"
#include "matrix/emit_settings.hpp"
#include "matrix/field.hpp"
#include "matrix/spelling.hpp"

namespace cudamatrix {

/// One value of a field. `text` is as in the file (3.10 stays 3.10). A list (uses) is "a,b" and a map
/// (packages, env) "name=value,name=value" in `text`, with its parts in `items` (list: second is empty).
struct Value {
    std::string text;
    Location where;
    std::vector<std::pair<std::string, std::string>> items;
};

/// One independent dimension: one field, or several in lock-step (zip). `rows[i][f]` is the value of
/// `fields[f]` in row i.
struct Axis {
    std::vector<Field> fields;
    std::vector<std::vector<Value>> rows;
    Location where;
};

/// A cell: a view of one combination. Cheap to copy; valid as long as its Matrix.
class Cell {
  public:
    /// The value of `field`, or nullptr where the matrix does not say anything about it.
    [[nodiscard]] const Value* get(Field field) const { return values_[static_cast<std::size_t>(field)]; }
    [[nodiscard]] bool has(Field field) const { return get(field) != nullptr; }
    void set(Field field, const Value* value) { values_[static_cast<std::size_t>(field)] = value; }

    /// Position in the order of the file, before excludes; includes come after the product.
    std::uint64_t index = 0;

  private:
    std::array<const Value*, kFieldCount> values_{};
};

/// Whether engines cut the path of a secret: they take it in a list with commas, some of them with quotes.
[[nodiscard]] bool is_cut_by_engines(std::string_view path);

/// build: of the matrix file. Settings that reach every step which uses the network.
struct BuildSettings {
    std::string ca_bundle;  ///< absolute path of a PEM bundle, given to builds as a secret and never a layer
    std::string ca_bundle_beside;  ///< the same from the matrix file's folder; empty where it was absolute
    std::string netrc;             ///< absolute path of a netrc file, given to builds as a secret as well
    std::string netrc_beside;
    /// Where bases of distributions come from: auto (an official image, where the lock has its digest; else
    /// bootstrapped), registry or bootstrap.
    std::string base_from = "auto";
    std::string network = "default";  ///< of image builds: none, host or default, which is the engine's own
    std::string cache =
        "mounts";  ///< mounts: BuildKit keeps packages and wheels for the next build; none: it does not
    /// The state of the distributions' archives: auto (the one that the lock has taken), none (today's) or
    /// 20261101T000000Z.
    std::string snapshot = "auto";
    Location snapshot_where;  ///< where it is written
    std::string user = "app";
    std::string workdir = "/workspace";
};

/// One entry of rules: a cell that matches `when` has to meet every clause of `require`.
struct OwnRule {
    std::string id;
    Condition when;  ///< without clauses: every cell
    Condition require;
    std::string because;
    std::string source;                     ///< the user's own words or link; may be empty
    std::string stage = "container_start";  ///< as under stages:
    Severity severity = Severity::error;    ///< error or warning
    Location where;                         ///< of the id
};

/// One entry of waive: findings of `rule` in cells that match `when` do not count up to and on `until`.
struct Waiver {
    std::string rule;
    Condition when;  ///< without clauses: every cell
    std::string because;
    std::string until;  ///< YYYY-MM-DD
    Location where;     ///< of the rule's id
};

/// What a file says of itself, so that one that lost a part of it is noticed.
struct Expect {
    std::optional<std::uint64_t> cells;
    std::optional<std::uint64_t> keys;  ///< of the file's top level
    bool end = false;                   ///< the file ends with a line "..."

    friend bool operator==(const Expect&, const Expect&) = default;
};

struct Matrix {
    std::string path;    ///< the file, as it was named on the command line
    std::string source;  ///< its whole text, for excerpts
    std::string name;    ///< name:, or the file's stem
    std::vector<Axis> axes;
    std::vector<std::pair<Field, Value>> set;
    std::vector<Condition> exclude;
    std::vector<std::vector<std::pair<Field, Value>>> include;  ///< each completed by `set`
    std::vector<Location> include_where;
    std::vector<OwnRule> rules;
    std::vector<Waiver> waivers;
    std::vector<Condition> keep;  ///< cells that an upgrade may not lose
    Expect expect;
    std::vector<std::string> stages;  ///< that decide a verdict; empty: the default (DecidingStages)
    BuildSettings build;
    Mirrors mirrors;
    Deployment deployment;
    EmitSettings emit;
    FieldSet named;  ///< every field that the file writes anywhere; decides what cell ids show
    std::vector<std::string> shared_segments;  ///< see the function of that name; filled by the reader
    /// Excludes that match nothing, includes equal to a cell of the product (dropped from `include`).
    std::vector<Diagnostic> warnings;
    std::vector<Respelt> respelt;  ///< every value that is written otherwise, in the order of reading
};

/// Cells of the product before excludes, saturating at 2^64-1.
[[nodiscard]] std::uint64_t product_size(const Matrix& matrix);

/// Calls `visit`, until it returns false, for every cell: the product (last axis fastest) less excludes, then
/// includes.
void for_each_cell(const Matrix& matrix, const std::function<bool(const Cell&)>& visit);
/// The includes among them.
void for_each_include(const Matrix& matrix, const std::function<bool(const Cell&)>& visit);

/// Number of cells, counted without walking the product; nullopt after `limit` steps.
[[nodiscard]] std::optional<std::uint64_t> count_cells(const Matrix& matrix, std::uint64_t limit);

/// Every segment of an id that two different values of the matrix share, sorted; cell_id adds a hash to
/// those.
[[nodiscard]] std::vector<std::string> shared_segments(const Matrix& matrix);

/// Stable, injective, legal as file name and image tag, at most 100 characters:
/// "drv550.54.15-rtx4090-cu12.4.1-py3.12". Fields that the file does not name are left out.
[[nodiscard]] std::string cell_id(const Matrix& matrix, const Cell& cell);

/// One note for each value that is written in a way of its own, at its first place, in the order of the file.
[[nodiscard]] std::vector<Diagnostic> spelling_notes(const Matrix& matrix);

// A matrix as if its cells had other values than the file says, each with a place of its own.

/// The same matrix with `field` set to `text`, checked, in every cell; findings about the value point at
/// `where`.
[[nodiscard]] Result<Matrix> with_override(const Matrix& matrix, Field field, std::string_view text,
                                           const Location& where);

/// The same matrix with each row's values of `fields` in every cell, so that a cell becomes as many as there
/// are rows. What the file says of `without` is dropped. Cells that become equal are one.
[[nodiscard]] Matrix with_rows(const Matrix& matrix, const std::vector<Field>& fields,
                               const std::vector<std::vector<Value>>& rows,
                               const std::vector<Field>& without = {});

}  // namespace cudamatrix
