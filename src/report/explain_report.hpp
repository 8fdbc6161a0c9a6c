// The reports of `explain`.
#pragma once

#include <string>

#include "knowledge/solve/explain.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::report {

struct ExplainReport {
    const Matrix& matrix;
    const Judgement& judgement;
    const solve::Explanation& explanation;
    ToolInfo tool;
    TextOptions text;
};

/// For each cell: its verdict at every stage, the findings with facts and sources, what passed and on which
/// facts, what was not checked and for want of which field, and the nearest cells that work. Where no cell is
/// meant: the lines that leave it out, or why the product never makes it.
[[nodiscard]] std::string explain_text(const ExplainReport& report);
[[nodiscard]] std::string explain_json(const ExplainReport& report);

}  // namespace cudamatrix::report
