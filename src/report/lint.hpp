// The reports of `lint`.
#pragma once

#include <string>

#include "advise/lint/lint.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::report {

struct LintReport {
    const Matrix& matrix;
    const Judgement& judgement;
    const lint::Report& lint;
    ToolInfo tool;
    TextOptions text;
};

/// The findings as a compiler prints them, then one line with their counts.
[[nodiscard]] std::string lint_text(const LintReport& report);

/// One JSON document: matrix, counts, and the findings with the edits that fix them.
[[nodiscard]] std::string lint_json(const LintReport& report);

/// GitHub workflow commands, one for each finding.
[[nodiscard]] std::string lint_github(const LintReport& report);

}  // namespace cudamatrix::report
