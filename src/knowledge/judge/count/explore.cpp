#include "knowledge/judge/count/explore.hpp"

#include <algorithm>

#include "knowledge/judge/evaluate.hpp"

namespace cudamatrix::rules {
namespace {

using Code = Diagrams::Code;
using Ref = Diagrams::Ref;

constexpr unsigned kVerdictShift = 6;
constexpr Code kCounting = 0x07;  // the severities that make a verdict: error, warning, unknown

std::size_t number(Field field) {
    return static_cast<std::size_t>(field);
}

Code with_verdict(Code flags, Verdict verdict) {
    return static_cast<Code>(flags | static_cast<unsigned>(verdict) << kVerdictShift);
}

}  // namespace

Code answer::of(const Findings& findings, const DecidingStages& deciding, const Cell& cell, ReadLog* log) {
    Code flags = 0;
    auto worst = Verdict::accepted;
    for (const auto& finding : findings) {
        flags |= static_cast<Code>(1u << static_cast<unsigned>(finding.severity));
        worst = std::max(worst, deciding.weigh(finding.stage, finding.verdict(), cell, log));
    }
    return with_verdict(flags, worst);
}

Code answer::after_waiving(Code code, bool active, bool expired) {
    if (code == 0) return 0;
    if (active) return kWaiver;
    if (!expired || (code & kCounting) == 0) return code;
    // That the waiver has ended is a warning.
    return with_verdict((code & kSeverities) | kWaiver, std::max(verdict(code), Verdict::degraded));
}

Verdict answer::verdict(Code code) {
    return static_cast<Verdict>(code >> kVerdictShift);
}

Explorer::Explorer(const Matrix& matrix, const Facts& facts, std::string_view today,
                   const DecidingStages& deciding, Memo& memo, Diagrams& diagrams, Progress& progress)
    : matrix_(matrix),
      facts_(facts),
      today_(today),
      deciding_(deciding),
      memo_(memo),
      diagrams_(diagrams),
      progress_(progress) {
    axis_of_.fill(kNone);
    for (const auto& [field, value] : matrix.set)
        cell_.set(field, &value);
    for (std::size_t i = 0; i < matrix.axes.size(); ++i) {
        for (const auto field : matrix.axes[i].fields)
            axis_of_[number(field)] = i;
        take(i, 0);
    }
    gpu_implies_arch_ = rules::gpu_implies_arch(matrix, facts);
}

void Explorer::take(std::size_t axis, std::size_t row) {
    const auto& from = matrix_.axes[axis];
    for (std::size_t i = 0; i < from.fields.size(); ++i)
        cell_.set(from.fields[i], &from.rows[row][i]);
}

Explorer::Answer Explorer::ask(const Rule& rule) {
    ReadLog log;
    const auto findings = rules::ask(rule, cell_, facts_, today_, &memo_, &log);
    Answer answer{answer::of(findings, deciding_, cell_, &log), {}};
    for (const auto field : log.fields()) {
        if (axis_of_[number(field)] != kNone) answer.axes.push_back(axis_of_[number(field)]);
        if (field == Field::arch && gpu_implies_arch_) answer.axes.push_back(axis_of_[number(Field::gpu)]);
    }
    return answer;
}

Ref Explorer::build_diagram(const Rule& rule) {
    return applies(rule, cell_) ? explore(rule, 0, ask(rule)) : Ref{0};
}

Ref Explorer::explore(const Rule& rule, Diagrams::Axes taken, const Answer& answer) {
    const auto next = std::find_if(answer.axes.begin(), answer.axes.end(),
                                   [&](std::size_t axis) { return (taken >> axis & 1u) == 0; });
    if (next == answer.axes.end() || !progress_.tick()) return answer.code;
    const auto axis = *next;
    taken |= Diagrams::Axes{1} << axis;
    std::vector<Ref> rows{explore(rule, taken, answer)};  // the answer is the one of its first row
    for (std::size_t row = 1; row < diagrams_.sizes()[axis]; ++row) {
        take(axis, row);
        rows.push_back(explore(rule, taken, ask(rule)));
    }
    take(axis, 0);
    return diagrams_.branch(axis, rows);
}

Diagrams::Axes Explorer::axes_of(const Condition& condition) const {
    Diagrams::Axes axes = 0;
    for (const auto& clause : condition.clauses) {
        if (const auto axis = axis_of_[number(clause.field)]; axis != kNone)
            axes |= Diagrams::Axes{1} << axis;
    }
    return axes;
}

Ref Explorer::matching(const Condition& condition) {
    const auto holds = [&](std::size_t axis) {
        return std::all_of(
            condition.clauses.begin(), condition.clauses.end(), [&](const Condition::Clause& clause) {
                return axis_of_[number(clause.field)] != axis || cudamatrix::matches(clause, cell_);
            });
    };
    if (!holds(kNone)) return 0;
    Ref made = 1;
    const auto axes = axes_of(condition);
    const auto& order = diagrams_.order();
    for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
        if ((axes >> *axis & 1u) == 0) continue;
        std::vector<Ref> rows;
        for (std::size_t row = 0; row < diagrams_.sizes()[*axis]; ++row) {
            take(*axis, row);
            rows.push_back(holds(*axis) ? made : Ref{0});
        }
        take(*axis, 0);
        made = diagrams_.branch(*axis, rows);
    }
    return made;
}

}  // namespace cudamatrix::rules
