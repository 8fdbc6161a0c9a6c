// The reports of `build`, `test` and `run`.
#pragma once

#include <string>

#include "report/inputs.hpp"
#include "report/results.hpp"

namespace cudamatrix::report {

/// Tables for a terminal: cells, what failed and why, what was skipped and why, by which code each GPU would
/// run, images; then the result in one line and where everything lies.
[[nodiscard]] std::string run_text(const RunReport& report, const TextOptions& options);

/// One JSON document with everything that the report holds.
[[nodiscard]] std::string run_json(const RunReport& report);

/// JUnit XML: one suite for each cell, one test case for each line of the kernel suite, and one suite for the
/// builds of images. Skipped cells are skipped test cases with the reason. A cell that failed is never green:
/// where no test case says why, one for the cell does. Code found in the image stands under the suite's
/// properties ("static.fatbin.sass").
[[nodiscard]] std::string junit(const RunReport& report);

}  // namespace cudamatrix::report
