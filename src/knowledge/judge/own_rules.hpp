// The rules of the matrix file as rules like ours, and what only shows beside the list of rules.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {

/// One rule for each clause of each `require`, with the id and stage of the entry; they look at the fields of
/// `when` and of the clause, and need them. They point into `matrix`.
[[nodiscard]] std::vector<Rule> own_rules(const Matrix& matrix);

/// Own rules whose id is one of ours, and waivers of rules that do not exist. Also of a matrix of which some
/// could not be read: only what is there is looked at.
[[nodiscard]] std::vector<Diagnostic> mistakes_in_ids(const Matrix& matrix);

/// Every field of the condition.
[[nodiscard]] FieldSet fields_of(const Condition& condition);

/// ": no cell has the field platform" for a condition that asks for a field that the file never names.
[[nodiscard]] std::string missing_fields(const Matrix& matrix, const Condition& condition);

// Which findings the matrix file accepts on purpose.

class Waiving {
  public:
    Waiving(const Matrix& matrix, std::string_view today);

    /// Whether any entry names the rule.
    [[nodiscard]] bool concerns(std::string_view rule) const;
    /// What entries of the rule look at.
    [[nodiscard]] FieldSet reads(std::string_view rule) const;

    /// The entries that meet a finding of `rule` in `cell`.
    struct Met {
        const Waiver* active = nullptr;      ///< the first that has not ended
        std::vector<const Waiver*> expired;  ///< all that have ended; empty where one is active
    };
    [[nodiscard]] Met meet(std::string_view rule, const Cell& cell);
    /// Of all the cells at once: `any` tells whether there is one that the entry meets in a finding.
    void meet(const std::function<bool(const Waiver&)>& any);
    [[nodiscard]] bool has_ended(const Waiver& waiver) const { return waiver.until < today_; }

    /// The finding that says so, at the stage of the finding that counts again.
    [[nodiscard]] static Finding expiry(const Waiver& waiver, const Finding& finding);

    /// Entries that met no finding so far.
    [[nodiscard]] std::vector<Diagnostic> idle() const;

  private:
    const Matrix& matrix_;
    std::string_view today_;
    std::vector<bool> met_;
};

}  // namespace cudamatrix::rules
