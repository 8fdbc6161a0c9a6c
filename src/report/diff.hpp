// `diff`: what moved between two states, for people, pull requests and programs.
#pragma once

#include <string>

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

/// same, verdicts, replaced, new, gone: what became of cells.
void add_cell_changes(JsonDocument& document, const diff::VerdictChanges& cells);

/// "rejected (driver-supports-cuda)".
[[nodiscard]] std::string verdict_text(const RecordedVerdict& verdict);
/// {"verdict", "rules"}
[[nodiscard]] Json verdict_json(const RecordedVerdict& verdict);

}  // namespace cudamatrix::report
