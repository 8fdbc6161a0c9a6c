// The ways out that are printed with a finding: each tried on the whole cell, against every rule.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "knowledge/judge/judge.hpp"

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

/// Puts ways out that work in the place of those that the rules offer. One works when, applied to the first
/// cell of its finding, the finding vanishes and no rule says anything worse than a limit that it did not say
/// before. A rule knows its own question only; where its offer fails at another rule, the search of `suggest`
/// looks for another value of the same field (newest first; a driver from the offered one upwards), then for
/// one more change beside it, and where nothing was offered that works for the fewest changes of the fields
/// that the rule reads. The machine and what is asked of it are never changed by a search. Notes and waived
/// findings keep what they have. `judgement` is one with cells. Where `on_progress` says stop, it fails as
/// interrupted, without a diagnostic, and the findings are of no use.
[[nodiscard]] Result<FixTally> verify_fixes(const Matrix& matrix, const Facts& facts,
                                            const std::string& today, Judgement& judgement,
                                            const OnProgress& on_progress = {});

}  // namespace cudamatrix::solve
