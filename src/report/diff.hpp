// `diff`: what moved between two states, for people, pull requests and programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "advise/diff/diff.hpp"
#include "base/json.hpp"
#include "report/inputs.hpp"
#include "report/json.hpp"

namespace cudamatrix::report {

struct DiffReport {
    const diff::Diff& diff;
    ToolInfo tool;
    TextOptions text;
};

/// Cells that moved, once for each reason; new and gone ones, pins, facts and sizes a line each, up to 40 of
/// a kind (all with `verbose`); then a line of counts.
[[nodiscard]] std::string diff_text(const DiffReport& report);
/// The same for a pull request, within the length of a comment.
[[nodiscard]] std::string diff_markdown(const DiffReport& report);
/// All of it.
[[nodiscard]] std::string diff_json(const DiffReport& report);

/// One kind of news: a line each.
struct DiffLines {
    std::string_view word;  ///< before each line: "pin"
    std::string_view noun;  ///< of what is counted: "new cell"
    std::vector<std::string> lines;
};
/// All but the verdicts that moved.
[[nodiscard]] std::vector<DiffLines> diff_lines(const diff::Diff& diff);
/// "A -> B: 80 verdicts as before, 6 moved, 2 new, 0 gone; 4 pins moved; 20 facts moved, 3 looked up again"
[[nodiscard]] std::string diff_summary(const diff::Diff& diff);
/// The id of the only one, or "6 cells, first ID".
[[nodiscard]] std::string cells_text(const std::vector<std::string>& cells);

/// {"change", "table", "id", "columns", "sources", "as_of"}
[[nodiscard]] Json fact_change_json(const diff::FactChange& row);
/// {"change", "before", "now", "because", "cells"}
[[nodiscard]] Json moved_group_json(const diff::MovedGroup& group);
/// same, verdicts, replaced, new, gone: what became of cells.
void add_cell_changes(JsonDocument& document, const diff::VerdictChanges& cells);

/// "rejected (driver-supports-cuda)".
[[nodiscard]] std::string verdict_text(const RecordedVerdict& verdict);
/// {"verdict", "rules"}
[[nodiscard]] Json verdict_json(const RecordedVerdict& verdict);

}  // namespace cudamatrix::report
