// One cell with its findings, and what a change of the cell makes of them (private to src/solve).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "knowledge/solve/conflict.hpp"

namespace cudamatrix::solve {

class Repair {
  public:
    /// `findings` are of `cell`; `with_known_values`: with every value that the facts know beside the cell's
    /// own and those that the fixes of the findings offer.
    Repair(const Facts& facts, const std::string& today, const Cell& cell, const Setting& setting,
           const std::vector<Finding*>& findings, bool with_known_values);

    /// The finding whose ways out are looked for from here on; it is kept by reference.
    void look_at(const Finding& finding);

    [[nodiscard]] const std::vector<Variable>& variables() const { return cache_.variables(); }
    /// The values of the cell.
    [[nodiscard]] const Assignment& present() const { return present_; }
    /// Whether the rule of the finding looks at the variable.
    [[nodiscard]] bool is_read(std::size_t variable) const;

    /// What the option makes of the cell; nothing where a value of it is none of its field.
    [[nodiscard]] std::optional<Assignment> after(const FixOption& option) const;
    /// Whether the finding vanishes there and no rule has worse to say than a limit that it did not say
    /// before.
    [[nodiscard]] bool works(const Assignment& assignment);
    /// Whether some rule that looks at what the assignment changes rejects it, or cannot answer: it said no
    /// better before, and has a finding of its own.
    [[nodiscard]] bool is_refused(const Assignment& assignment);
    /// The first of the combinations that works; `budget`: the values that may still be tried.
    [[nodiscard]] std::optional<Assignment> first(const Domains& domains, std::uint64_t& budget);

    /// Only these values.
    [[nodiscard]] static Domains only(const Assignment& assignment);
    /// The other values of a variable, the newest first; with a floor those above it, the nearest first.
    [[nodiscard]] std::vector<std::uint32_t> values_of(std::size_t variable,
                                                       std::optional<std::uint32_t> floor = {}) const;

    /// The assignment as an option. `text` says what it does already for the fields that are as in `said`.
    [[nodiscard]] FixOption option_of(const Assignment& assignment, std::string text = {},
                                      const Assignment* said = nullptr);

  private:
    [[nodiscard]] bool is_touched(std::size_t rule, const Assignment& assignment) const;
    [[nodiscard]] bool allows(std::size_t rule, const Assignment& assignment);

    RuleCache cache_;
    Assignment present_;
    std::vector<Verdict> bounds_;  ///< by rule: no answer may be worse
    const Finding* finding_ = nullptr;
    std::map<std::size_t, rules::Findings> before_;       ///< what the rule of the finding says now
    std::map<std::vector<std::uint32_t>, bool> answers_;  ///< of that rule, by its assignment
};

}  // namespace cudamatrix::solve
