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
    /// `findings` are of `cell`; `whole`: with every value that the facts know beside the cell's own and
    /// those that the fixes of the findings offer.
    Repair(const Facts& facts, const std::string& today, const Cell& cell, const Setting& setting,
           const std::vector<Finding*>& findings, bool whole);

    /// The finding whose ways out are looked for from here on; it is kept by reference.
    void look_at(const Finding& finding);

    [[nodiscard]] const std::vector<Slot>& slots() const { return oracle_.slots(); }
    /// The values of the cell.
    [[nodiscard]] const Picks& present() const { return present_; }
    /// Whether the rule of the finding looks at the slot.
    [[nodiscard]] bool is_read(std::size_t slot) const;

    /// What the option makes of the cell; nothing where a value of it is none of its field.
    [[nodiscard]] std::optional<Picks> after(const FixOption& option) const;
    /// Whether the finding vanishes there and no rule has worse to say than a limit that it did not say
    /// before.
    [[nodiscard]] bool works(const Picks& picks);
    /// Whether some rule that looks at what the picks change rejects them, or cannot answer: it said no
    /// better before, and has a finding of its own.
    [[nodiscard]] bool is_refused(const Picks& picks);
    /// The first of the combinations that works; `budget`: the values that may still be tried.
    [[nodiscard]] std::optional<Picks> first(const Domains& domains, std::uint64_t& budget);

    /// Only these values.
    [[nodiscard]] static Domains only(const Picks& picks);
    /// The other values of a slot, the newest first; with a floor those above it, the nearest first.
    [[nodiscard]] std::vector<std::uint32_t> values_of(std::size_t slot,
                                                       std::optional<std::uint32_t> floor = {}) const;

    /// The picks as an option. `text` says what it does already for the fields that are as in `said`.
    [[nodiscard]] FixOption option_of(const Picks& picks, std::string text = {}, const Picks* said = nullptr);

  private:
    [[nodiscard]] bool is_touched(std::size_t rule, const Picks& picks) const;
    [[nodiscard]] bool allows(std::size_t rule, const Picks& picks);

    Oracle oracle_;
    Picks present_;
    std::vector<Verdict> bounds_;  ///< by rule: no answer may be worse
    const Finding* finding_ = nullptr;
    std::map<std::size_t, rules::Findings> before_;       ///< what the rule of the finding says now
    std::map<std::vector<std::uint32_t>, bool> answers_;  ///< of that rule, by its picks
};

}  // namespace cudamatrix::solve
