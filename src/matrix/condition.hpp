// Conditions over values, for src/matrix and src/solve (`matches` over whole cells is public in matrix.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "matrix/matrix.hpp"
#include "matrix/value.hpp"

namespace cudamatrix {

/// A value made ready for comparison, so that a large matrix parses each version once.
struct Operand {
    Operand() = default;
    Operand(Field field, std::string_view value);
    std::string lower;               ///< as text, without case
    std::optional<Version> version;  ///< where the field compares as a version and the text is one
};

/// A clause made ready for comparison.
class ClauseTest {
  public:
    explicit ClauseTest(const Condition::Clause& clause);
    [[nodiscard]] Field field() const { return field_; }
    /// True when one of the operands of a value (see operands_of) satisfies one of the alternatives.
    [[nodiscard]] bool holds(const std::vector<Operand>& value) const;

  private:
    struct Test {
        Predicate::Op op;
        Operand operand;
    };
    [[nodiscard]] bool passes(const Test& test, const Operand& value) const;

    Field field_;
    std::vector<std::vector<Test>> any_of_;
};

/// What a clause on `field` looks at in `value`: its text, or every item of a list. No value satisfies
/// nothing.
[[nodiscard]] std::vector<Operand> operands_of(Field field, const Value* value);

/// One alternative as it is written: "<500", ">=12,<13", "470.*", "T4".
[[nodiscard]] std::variant<std::vector<Predicate>, ValueProblem> parse_alternative(Field field,
                                                                                   std::string_view text);

}  // namespace cudamatrix
