// The reports of `suggest`.
#pragma once

#include <string>

#include "knowledge/solve/suggest.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::report {

struct SuggestReport {
    const solve::Suggestion& suggestion;
    ToolInfo tool;
    TextOptions text;
};

/// Every stack with its verdict, its limits and its row; where there is none, the smallest sets of demands
/// that conflict, with the rules and facts that show it, and the smallest changes that help.
[[nodiscard]] std::string suggest_text(const SuggestReport& report);
[[nodiscard]] std::string suggest_json(const SuggestReport& report);

}  // namespace cudamatrix::report
