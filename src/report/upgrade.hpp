// `upgrade`: what an edit of the matrix file changes, for people, programs and `patch`.
#pragma once

#include <string>
#include <vector>

#include "advise/upgrade/outcome.hpp"
#include "base/json.hpp"
#include "matrix/matrix.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::report {

struct UpgradeReport {
    const Matrix& matrix;  ///< as it is in the file
    const upgrade::Outcome& outcome;
    bool written = false;
    ToolInfo tool;
    TextOptions text;
};

/// A line for each value that moves; what that does to the cells, as `diff` prints it; then the patch.
[[nodiscard]] std::string upgrade_text(const UpgradeReport& report);
/// All of it; `source` is the whole file after the edit.
[[nodiscard]] std::string upgrade_json(const UpgradeReport& report);
/// A unified diff for `patch -p0`, and nothing else.
[[nodiscard]] std::string upgrade_patch(const UpgradeReport& report);

/// "2.5.1+cu124 -> 2.6.0+cu124", "580.178.04 is added", "3.9 is dropped".
[[nodiscard]] std::string upgrade_step_text(const upgrade::Step& step);
/// {"field", "before", "now"}
[[nodiscard]] Json upgrade_step_json(const upgrade::Step& step);

}  // namespace cudamatrix::report
