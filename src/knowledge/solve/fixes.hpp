// The ways out that are printed with a finding: each tried on the whole cell, against every rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/judge/judge.hpp"
#include "knowledge/solve/conflict.hpp"

namespace cudamatrix::solve {

/// Values that are tried at most for all findings of a judgement: a second or two.
inline constexpr std::uint64_t kMostTriedForFixes = 100'000;

/// Ends the text of a fix that takes its finding away but not what other rules then say of the cell.
inline constexpr std::string_view kNotEnough = " (by itself not enough)";

/// What became of the fixes that the rules offered.
struct FixTally {
    std::uint64_t offered = 0;    ///< by the rules, without excludes
    std::uint64_t kept = 0;       ///< of those: true as they stand
    std::uint64_t replaced = 0;   ///< another value of the same field took their place
    std::uint64_t completed = 0;  ///< they work together with one more change
    std::uint64_t dropped = 0;    ///< nothing like them works
    std::uint64_t searched = 0;   ///< found where no rule offered a thing that works
    std::uint64_t without = 0;  ///< errors for which no change works: their offers are kept, with kNotEnough
    bool complete = true;       ///< false: a search was given up after kMostTriedForFixes values
};

/// By finding, the cell on which its ways out are tried: the one that least else stands against, the first of
/// equal ones. An index into the judgement's cells.
[[nodiscard]] std::vector<std::size_t> cells_to_fix(const Judgement& judgement);

/// Puts ways out that work in the place of those that the rules offer. One works when, applied to its
/// cell, the finding vanishes and no rule says anything worse than a limit that it did not say
/// before. A rule knows its own question only; where its offer fails at another rule, the search of `suggest`
/// looks for another value of the same field (newest first; a driver from the offered one upwards), then for
/// one more change beside it, and where nothing was offered that works for the fewest changes of the fields
/// that the rule reads. The machine and what is asked of it are never changed by a search. Notes and waived
/// findings keep what they have. `judgement` is one with cells. Where `on_progress` says stop, it fails as
/// interrupted, without a diagnostic, and the findings are of no use.
[[nodiscard]] Result<FixTally> verify_fixes(const Matrix& matrix, const Facts& facts,
                                            const std::string& today, Judgement& judgement,
                                            const OnProgress& on_progress = {});

// One cell with its findings, and what a change of the cell makes of them (private to src/solve).

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
