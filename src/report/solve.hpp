// The reports of `explain` and `suggest`.
#pragma once

#include <string>

#include "knowledge/solve/explain.hpp"
#include "knowledge/solve/suggest.hpp"
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

struct SuggestReport {
    const solve::Suggestion& suggestion;
    ToolInfo tool;
    TextOptions text;
};

/// Every stack with its verdict, its limits and its row; where there is none, the smallest sets of
/// constraints that conflict, with the rules and facts that show it, and the smallest changes that help.
[[nodiscard]] std::string suggest_text(const SuggestReport& report);
[[nodiscard]] std::string suggest_json(const SuggestReport& report);

}  // namespace cudamatrix::report
