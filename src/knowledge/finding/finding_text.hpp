// A finding as people read it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "knowledge/finding/finding.hpp"

namespace cudamatrix {

/// As a compiler prints it, with the evidence and the fix; `source` is the text of the matrix file (excerpt
/// with a caret):
///     matrix.yaml:4:12: error: driver 470.161.03 is too old for CUDA 12.4.1: CUDA 12 needs >= 525.60.13
///     [driver-supports-cuda, at runtime]
///       4 |   driver: ["470.161.03", "550.54.15"]
///         |            ^~~~~~~~~~~~
///       note: 6 cells, first drv470.161.03-t4-cu12.4.1
///       note: fact cuda-family-12, https://docs.nvidia.com/... (as of 2026-11-21)
///       fix: driver >= 525.60.13, or cuda 11.8.0 with this driver
[[nodiscard]] std::string render_finding(const FindingGroup& group, std::string_view source,
                                         bool colour = false);

/// One note for each fact that it rests on: "fact cuda-family-12, https://... (as of 2026-11-21)".
[[nodiscard]] std::vector<std::string> fact_notes(const Finding& finding);

/// In one line: "error: driver ... is too old ... [driver-supports-cuda, at runtime]".
[[nodiscard]] std::string finding_line(const Finding& finding);

/// "fact cuda-family-12, https://... and 2 more (as of 2026-11-21)"; ", old" beside the date where it is.
[[nodiscard]] std::string fact_note(const FactRef& fact);

}  // namespace cudamatrix
