// What the formats of `check` share: which findings they show, in which order, and the lines of the cells.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "knowledge/judge/deciding.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::report {

/// Beyond these many cells a grid is shown, not one line for each.
inline constexpr std::size_t kListedCells = 40;

/// Errors, then unknown, degraded, ends of life, notes, and what is waived; equal ones as they are.
[[nodiscard]] std::vector<const FindingGroup*> by_severity(const Judgement& judgement);

/// For formats that programs read: all_warnings, and which values were read as others. People find the latter
/// on stderr.
[[nodiscard]] std::vector<Diagnostic> warnings_and_spellings(const CheckReport& report);

/// A finding in two lines: what, and the fix.
struct BriefFinding {
    Severity severity;
    Location where;
    std::string message;
    std::string tag;  ///< "driver-supports-cuda, at runtime, 6 cells"
    std::string fix;
};

struct BriefFindings {
    std::vector<BriefFinding> shown;  ///< as by_severity
    std::size_t notes = 0;            ///< left out
    std::size_t waived = 0;           ///< left out

    /// "2 notes, 1 waived finding"; empty where nothing is left out.
    [[nodiscard]] std::string left_out() const;
};

/// Findings that lack the same fact about the same value are one.
[[nodiscard]] BriefFindings brief_findings(const Judgement& judgement);

/// "runtime", or "no torch.compile" where the finding's stage does not decide the verdict.
[[nodiscard]] std::string where_it_strikes(const Finding& finding, Verdict cell);

/// Id, verdict, and what decided it: "runtime: driver-supports-cuda (+1)", the first finding that alone gives
/// the cell its verdict and how many more do; "no torch.compile: triton-supports-gpu" where the stage fails
/// and does not decide.
[[nodiscard]] std::vector<std::array<std::string, 3>> listed_cells(const CheckReport& report);

}  // namespace cudamatrix::report
