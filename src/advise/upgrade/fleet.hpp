// The cells of a matrix beside those that it would have with other values: what moves together, and what the
// rules say then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "knowledge/facts/facts.hpp"
#include "knowledge/judge/judge.hpp"
#include "knowledge/solve/rule_cache.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix::upgrade {

/// Values by the fleet's variables: of a unit, those of its own.
using Values = std::vector<std::uint32_t>;

/// What moves as one: an axis (several fields where they are zipped), a field of `set`, or one in which all
/// rows of `include` agree. Each row has a value of each variable; the front is the newest row.
struct Unit {
    std::vector<std::size_t> variables;
    std::vector<Values> rows;
    std::vector<std::size_t> places;  ///< of those rows in the axis
    std::size_t front = 0;
    std::optional<std::size_t> axis;  ///< of the matrix; nothing: it has one row, in `set` or in includes

    /// An axis with several rows gets another one where it moves, and keeps those that it has.
    [[nodiscard]] bool has_several() const { return rows.size() > 1; }
};

/// For each unit the values in the place of each of its rows.
using Target = std::vector<std::vector<Values>>;

/// What the user asks for: a field and its new value.
using Wanted = std::vector<std::pair<Field, std::string>>;

class Fleet {
  public:
    /// All live longer. `judgement` is of `matrix`, with its cells, as of `today`: values that were not out
    /// by then are none. `wanted` are values beside those that the facts know.
    Fleet(const Matrix& matrix, const Judgement& judgement, const Facts& facts, const std::string& today,
          Wanted wanted = {}, const OnProgress& on_progress = {});

    [[nodiscard]] const std::vector<Unit>& units() const { return units_; }
    [[nodiscard]] std::size_t variable_count() const { return cache_->variables().size(); }
    [[nodiscard]] const solve::Variable& variable(std::size_t index) const {
        return cache_->variables()[index];
    }
    /// The text of a value; empty: the cell does not have one.
    [[nodiscard]] std::string text(std::size_t variable, std::uint32_t value) const;
    /// NewerValues of a value that the cells have, as indices.
    struct Newer {
        Values on_line, beyond;
    };
    [[nodiscard]] const Newer& newer(std::size_t variable, std::uint32_t value) const {
        return newer_[variable].at(value);
    }

    /// Every row in its own place.
    [[nodiscard]] Target present() const;
    /// The target with another value in a row of a unit. What goes with it follows: packages with their
    /// torch, the CUDA and torch beside an image that names them in its tag, and the tag with its CUDA.
    [[nodiscard]] Target with(const Target& target, std::size_t unit, std::size_t row, std::size_t at,
                              std::uint32_t value) const;

    [[nodiscard]] Verdict after(std::size_t cell, const Target& target);
    /// The rules that speak against what the cell would be: numbers for `refusal`, in the order of the list.
    [[nodiscard]] std::vector<std::size_t> refused_by(std::size_t cell, const Target& target);
    /// The worst that one of them says of it.
    [[nodiscard]] Finding refusal(std::size_t rule, std::size_t cell, const Target& target);
    /// What the cell as it is would be with other values of some variables.
    [[nodiscard]] Verdict verdict_with(std::size_t cell,
                                       std::initializer_list<std::pair<std::size_t, std::uint32_t>> values);
    /// Whether `keep:` names the cell.
    [[nodiscard]] bool is_kept(std::size_t cell) const;
    /// Whether it names one that works and that is in the row of the unit.
    [[nodiscard]] bool is_kept(std::size_t unit, std::size_t row) const;
    /// The values of a cell by variable, as texts: its own, and those that it would have.
    [[nodiscard]] std::vector<std::string> values(const Cell& cell) const;
    [[nodiscard]] std::vector<std::string> values(std::size_t cell, const Target& target);

    /// Whether a cell would be worse than it is, or one that works have a limit more; the last one that was
    /// is looked at first.
    [[nodiscard]] bool makes_worse(const Target& target);
    /// Cells that would work, of those that the target changes and of the others.
    [[nodiscard]] std::size_t working(const Target& target);
    /// Of the cells in that row of a unit whether one would work.
    [[nodiscard]] bool works(const Target& target, std::size_t unit, std::size_t row);

    /// `on_progress` said stop: what was found since is of no use.
    [[nodiscard]] bool is_stopped() const { return cache_->is_stopped(); }

    [[nodiscard]] const Matrix& matrix() const { return matrix_; }
    [[nodiscard]] const Judgement& judgement() const { return judgement_; }
    [[nodiscard]] const Wanted& wanted() const { return wanted_; }
    [[nodiscard]] const Facts& facts() const { return facts_; }
    [[nodiscard]] const std::string& today() const { return today_; }

  private:
    void collect_variables(const OnProgress& on_progress);
    void collect_units();
    void place_cells();
    void add_candidates(std::vector<solve::Variable>& variables);
    void add_unit(const std::vector<Field>& fields, const std::vector<std::vector<const Value*>>& rows,
                  std::optional<std::size_t> axis);
    [[nodiscard]] std::size_t newest_row(const Unit& unit) const;
    [[nodiscard]] bool is_worse(std::size_t cell, const Target& target);
    /// In the row, and in the fronts of the other units, the value that `value_for` gives for the present
    /// one.
    void follow(Target& out, std::size_t unit, std::size_t row, Field field,
                const std::function<std::string(const std::string&)>& value_for) const;
    void move_companions(Target& out, std::size_t unit, std::size_t row, std::string_view torch) const;
    [[nodiscard]] std::optional<std::uint32_t> companion(std::size_t package, std::string_view torch) const;
    [[nodiscard]] const solve::Assignment& moved(std::size_t cell, const Target& target);

    const Matrix& matrix_;
    const Judgement& judgement_;
    const Facts& facts_;
    const std::string& today_;
    Wanted wanted_;
    std::vector<rules::Rule> own_;
    std::optional<solve::RuleCache> cache_;
    std::vector<std::map<std::uint32_t, Newer>> newer_;  ///< by variable
    std::vector<Unit> units_;
    std::vector<solve::Assignment> cells_;
    std::vector<std::vector<std::size_t>> rows_of_;  ///< by cell and unit; the unit's size: none of its rows
    std::vector<Verdict> before_;
    std::vector<std::vector<Verdict>> before_by_rule_;
    solve::Assignment scratch_;
    std::size_t suspect_ = 0;
};

/// Whether `keep:` names the cell.
[[nodiscard]] bool is_kept(const Matrix& matrix, const Cell& cell);

/// The release of a package for a torch; empty where it does not go with one.
[[nodiscard]] std::string companion_text(const Facts& facts, std::string_view package,
                                         std::string_view torch);
/// What the tag of an image says that it holds, as cells write it beside the image.
[[nodiscard]] std::vector<std::pair<Field, std::string>> held_by(const Facts& facts, std::string_view image);

/// Fields whose values get newer by themselves.
[[nodiscard]] bool moves(Field field);

}  // namespace cudamatrix::upgrade
