// Conditions over the values of cells: exclude, when, require, --only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/result.hpp"
#include "base/version.hpp"
#include "matrix/field.hpp"

namespace cudamatrix {

class Cell;
struct Value;
struct ValueProblem;

/// One alternative of a condition: "<500", ">=12", "470.*", "T4". Versions compare as versions, everything
/// else as text without case; compilers have ranges within one name (">=gcc-11.3,<gcc-12"). An equality
/// covers what it does not say (12 covers 12.4.1, 2.6.0 covers 2.6.0+cu124), but a suffix that makes another
/// thing counts (3.13 is not 3.13t, 9.0 is not 9.0a). Values are compared as they are written: a bare 12.4
/// is 12.4.0 to a range.
struct Predicate {
    enum class Op { equal, not_equal, less, less_equal, greater, greater_equal, glob } op = Op::equal;
    std::string operand;
};

/// All of `clauses` hold; a clause holds when any of its alternatives does (an alternative may be a
/// conjunction, ">=12,<13").
struct Condition {
    struct Clause {
        Field field;
        std::vector<std::vector<Predicate>> any_of;
        Location where;
    };
    std::vector<Clause> clauses;
    Location where;
};

[[nodiscard]] bool matches(const Condition& condition, const Cell& cell);
[[nodiscard]] bool matches(const Condition::Clause& clause, const Cell& cell);

/// The alternatives of a clause for a message: "470.*", ">= 525 and < 550", "11.8.0 or 12.4.1".
[[nodiscard]] std::string alternatives_text(const Condition::Clause& clause);

/// "driver=<500,cuda=12.4.1", "driver=>=450,<525"; the same field again is another alternative of it.
[[nodiscard]] Result<Condition> condition_from_text(std::string_view text);

/// A value made ready for comparison, so that a large matrix parses each version once.
struct Operand {
    Operand() = default;
    Operand(Field field, std::string_view value);
    std::string lower;               ///< as text, without case
    std::optional<Version> version;  ///< where the field has ranges and the text has a version
};

/// A clause made ready for comparison.
class ClauseTest {
  public:
    explicit ClauseTest(const Condition::Clause& clause);
    [[nodiscard]] Field field() const { return field_; }
    /// True when one of the operands of a value (see operands_of) satisfies one of the alternatives.
    [[nodiscard]] bool holds(const std::vector<Operand>& value) const;
    /// True when a limit lies inside what `value` stands for, as 11.3 does in 11: part of it may satisfy.
    [[nodiscard]] bool splits(const Operand& value) const;
    /// True when nothing satisfies both: no limit or value that one of the two names, and neither end.
    [[nodiscard]] bool excludes(const ClauseTest& other) const;

  private:
    struct Test {
        Predicate::Op op;
        Operand operand;
    };
    [[nodiscard]] bool passes(const Test& test, const Operand& value) const;

    Field field_;
    std::vector<std::vector<Test>> any_of_;
};

/// What a clause on `field` looks at in `value`: its text, or every item of a list; nothing without a value.
[[nodiscard]] std::vector<Operand> operands_of(Field field, const Value* value);

/// True for fields that "<" and ">" compare: versions and compilers.
[[nodiscard]] bool has_ranges(Field field);

/// "<=" and "12.4" of " <= 12.4": a sign, which may be missing, and what it is about.
[[nodiscard]] std::pair<std::string_view, std::string_view> sign_and_value(std::string_view text);

/// One alternative as it is written: "<500", ">=12,<13", "470.*", "T4".
[[nodiscard]] std::variant<std::vector<Predicate>, ValueProblem> parse_alternative(Field field,
                                                                                   std::string_view text);

}  // namespace cudamatrix
