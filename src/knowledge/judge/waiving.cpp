#include "knowledge/judge/waiving.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "knowledge/judge/own_rules.hpp"

namespace cudamatrix::rules {

Waiving::Waiving(const Matrix& matrix, std::string_view today)
    : matrix_(matrix), today_(today), met_(matrix.waivers.size(), false) {}

bool Waiving::concerns(std::string_view rule) const {
    return std::any_of(matrix_.waivers.begin(), matrix_.waivers.end(),
                       [&](const Waiver& waiver) { return waiver.rule == rule; });
}

FieldSet Waiving::reads(std::string_view rule) const {
    FieldSet fields;
    for (const auto& waiver : matrix_.waivers) {
        if (waiver.rule != rule) continue;
        for (const auto& clause : waiver.when.clauses)
            fields.insert(clause.field);
    }
    return fields;
}

Waiving::Met Waiving::meet(std::string_view rule, const Cell& cell) {
    Met met;
    for (std::size_t i = 0; i < matrix_.waivers.size(); ++i) {
        const auto& waiver = matrix_.waivers[i];
        if (waiver.rule != rule || !matches(waiver.when, cell)) continue;
        met_[i] = true;
        if (has_ended(waiver)) {
            met.expired.push_back(&waiver);
        } else if (met.active == nullptr) {
            met.active = &waiver;
        }
    }
    if (met.active != nullptr) met.expired.clear();
    return met;
}

void Waiving::meet(const std::function<bool(const Waiver&)>& any) {
    for (std::size_t i = 0; i < matrix_.waivers.size(); ++i)
        met_[i] = any(matrix_.waivers[i]);
}

Finding Waiving::expiry(const Waiver& waiver, const Finding& finding) {
    Finding out;
    out.severity = Severity::warning;
    out.stage = finding.stage;
    out.rule = kWaiverExpired;
    out.primary = finding.primary;
    out.message = fmt::format("the waiver of {} ended on {} ({}): what it accepted counts again", waiver.rule,
                              waiver.until, waiver.because);
    return out;
}

std::vector<Diagnostic> Waiving::idle() const {
    std::vector<Diagnostic> out;
    for (std::size_t i = 0; i < met_.size(); ++i) {
        if (met_[i]) continue;
        const auto& waiver = matrix_.waivers[i];
        out.push_back(Diagnostic::warning(fmt::format("this waiver matches no finding of {}{}", waiver.rule,
                                                      missing_fields(matrix_, waiver.when)),
                                          waiver.where)
                          .with_fix("correct it, or delete it"));
    }
    return out;
}

}  // namespace cudamatrix::rules
