// Turns rules and conditions into diagrams over the product (private to knowledge/judge).
#pragma once

#include <vector>

#include "knowledge/judge/count/diagram.hpp"
#include "knowledge/judge/deciding.hpp"
#include "knowledge/judge/judge.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {

/// All that counting needs of a rule's answer, in one byte.
namespace answer {
using Code = Diagrams::Code;
inline constexpr Code kSeverities = 0x1F;  ///< the flag of a Severity is 1 << its number
/// With severities: a waiver that has ended would have covered them. Alone: they are waived.
inline constexpr Code kWaiver = 0x20;

/// Before waivers: severities and verdict; 0 where there are no findings. `log` learns what was looked at.
[[nodiscard]] Code of(const Findings& findings, const DecidingStages& deciding, const Cell& cell,
                      ReadLog* log = nullptr);
/// What `met` makes of it.
[[nodiscard]] Code after_waiving(Code code, bool active, bool expired);
[[nodiscard]] Verdict verdict(Code code);
}  // namespace answer

/// Asks rules about the product of a matrix.
class Explorer {
  public:
    /// The product must not be empty. All of it is kept by reference.
    Explorer(const Matrix& matrix, const Facts& facts, std::string_view today, const DecidingStages& deciding,
             Memo& memo, Diagrams& diagrams, Progress& progress);

    /// What the rule says of each cell, as answer::of. It is asked only where it looks at other rows, which
    /// is less often than its fields have combinations: one that needs no more than the driver looks at no
    /// more. Means nothing once `progress` was stopped.
    [[nodiscard]] Diagrams::Ref build_diagram(const Rule& rule);

    /// 1 for the cells of the product that the condition matches. Ordered.
    [[nodiscard]] Diagrams::Ref matching(const Condition& condition);
    /// The axes of the fields of a condition.
    [[nodiscard]] Diagrams::Axes axes_of(const Condition& condition) const;

    /// The cell of the first row of each axis: all cells of the product have its fields.
    [[nodiscard]] const Cell& first() const { return cell_; }

  private:
    struct Answer {
        answer::Code code;
        std::vector<std::size_t> axes;  ///< that were looked at, in the order of the first look
    };
    [[nodiscard]] Answer ask(const Rule& rule);
    [[nodiscard]] Diagrams::Ref explore(const Rule& rule, Diagrams::Axes taken, const Answer& answer);
    void take(std::size_t axis, std::size_t row);

    static constexpr std::size_t kNone = ~std::size_t{0};

    const Matrix& matrix_;
    const Facts& facts_;
    std::string_view today_;
    const DecidingStages& deciding_;
    Memo& memo_;
    Diagrams& diagrams_;
    Progress& progress_;
    std::array<std::size_t, kFieldCount> axis_of_;  ///< of each field; kNone: on no axis
    bool gpu_implies_arch_ = false;  ///< for some row: what looks at the arch depends on the GPU
    Cell cell_;
};

}  // namespace cudamatrix::rules
