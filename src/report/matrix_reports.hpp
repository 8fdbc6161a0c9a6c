// The reports about a matrix: of `check`, `list`, `lint`, `explain`, `suggest`, `render` (--check and
// --explain), `lock` and `templates`. Each writer is a pure function: the same data gives the same bytes
// everywhere.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "advise/lint/lint.hpp"
#include "base/result.hpp"
#include "knowledge/solve/explain.hpp"
#include "knowledge/solve/suggest.hpp"
#include "render/files/template_check.hpp"
#include "render/image/image_plan.hpp"
#include "render/output/output_folder.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::report {

/// The reader's warnings, then the findings, the worst first: a line for each and one for its fix, or as a
/// compiler prints them where `text.verbose` is set. Then the cells: up to 40 one line each, more as a grid.
/// The last line counts the verdicts.
[[nodiscard]] std::string check_text(const CheckReport& report);

/// One JSON document: matrix, verdicts, warnings, every cell, and once what cells share: findings, the facts
/// that they rest on, and what was not checked.
[[nodiscard]] std::string check_json(const CheckReport& report);
inline constexpr int kCheckSchema = 2;

/// Its JSON schema (draft 7).
[[nodiscard]] std::string_view check_schema();

/// The same for a pull request: the cells as a table, the findings as a list. No text of the matrix becomes
/// markup.
[[nodiscard]] std::string check_markdown(const CheckReport& report);

/// GitHub workflow commands, one for each finding: the job's page shows them at the line of the matrix file.
/// GitHub keeps ten of each kind for a step; all of them stay in the log.
[[nodiscard]] std::string check_github(const CheckReport& report);

/// SARIF 2.1.0 for code scanning: one result for each finding, with a fingerprint that lines do not move.
[[nodiscard]] std::string check_sarif(const CheckReport& report);

/// Counts by verdict and by rule, no cell listed: any size of matrix.
[[nodiscard]] std::string check_summary_text(const CheckReport& report);
[[nodiscard]] std::string check_summary_json(const CheckReport& report);

/// Every cell: its verdict and id on one line, its fields below.
[[nodiscard]] std::string list_text(const CheckReport& report);

/// One JSON document: every cell with id, fields and verdict.
[[nodiscard]] std::string list_json(const CheckReport& report);

/// {"include":[{"id":...,"verdict":...,"driver":...}]} on one line, for fromJSON of a workflow: the accepted
/// and degraded cells. More than the 256 that GitHub runs are an input failure that says how many there are.
[[nodiscard]] Result<std::string> list_github_matrix(const CheckReport& report);

/// `list --images`: the images that the accepted and degraded cells need, each with the cells that share it,
/// and the cells that get none, with the reason.
[[nodiscard]] std::string list_images_text(const CheckReport& report, const ImagePlan& plan);
[[nodiscard]] std::string list_images_json(const CheckReport& report, const ImagePlan& plan);
/// One entry for each image, its cells in one text; more than 256 are an input failure. `runner` is the label
/// of what runs images with CUDA; empty: GitHub's own, as for all others.
[[nodiscard]] Result<std::string> list_images_github_matrix(const CheckReport& report, const ImagePlan& plan,
                                                            std::string_view runner);

struct LintReport {
    const Matrix& matrix;
    const Judgement& judgement;
    const lint::Report& lint;
    ToolInfo tool;
    TextOptions text;
    std::string folder = {};  ///< the current one; empty: nobody says
};

/// The findings as a compiler prints them, then one line with their counts.
[[nodiscard]] std::string lint_text(const LintReport& report);

/// One JSON document: matrix, counts, and the findings with the edits that fix them.
[[nodiscard]] std::string lint_json(const LintReport& report);

/// GitHub workflow commands, one for each finding.
[[nodiscard]] std::string lint_github(const LintReport& report);

/// SARIF 2.1.0 for code scanning, with the edits that fix a finding.
[[nodiscard]] std::string lint_sarif(const LintReport& report);

struct ExplainReport {
    const Matrix& matrix;
    const Judgement& judgement;
    const solve::Explanation& explanation;
    ToolInfo tool;
    TextOptions text;
};

/// For each cell, in about ten lines: its verdict, what decides it on which facts, a fix, and the nearest
/// cell that works. With `text.verbose` every stage, every finding, what passed and on which facts, what was
/// not checked and for want of which field. Where no cell is meant: the lines that leave it out, or why the
/// product never makes it.
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

struct DriftReport {
    std::string matrix;
    std::string output;            ///< the folder
    std::vector<Drift> drift;      ///< sorted by path; empty: the folder is what the matrix gives
    std::size_t files = 0;         ///< how many the matrix gives
    std::vector<std::string> fix;  ///< argv that makes it right
    ToolInfo tool;
    TextOptions text;
};

/// A unified diff that `patch -p1` takes in the folder, then one line for each file, then the command.
/// Beyond 20,000 lines files are only named.
[[nodiscard]] std::string drift_text(const DriftReport& report);
[[nodiscard]] std::string drift_json(const DriftReport& report);

struct TemplatesReport {
    std::vector<mustache::Library::Listed> templates;
    ToolInfo tool;
};

/// One line for each template: its family (- : of all), its name, and the file that replaces it, or the
/// user's partial with who includes it.
[[nodiscard]] std::string templates_text(const TemplatesReport& report);
[[nodiscard]] std::string templates_json(const TemplatesReport& report);

/// One template as it is written.
[[nodiscard]] std::string template_text(const mustache::Library::Listed& one);
[[nodiscard]] std::string template_json(const mustache::Library::Listed& one);

/// "43 templates, 1 overridden, 74 files filled from a sample, 0 mistakes": of a check that found none.
[[nodiscard]] std::string template_check_text(const TemplateCheck& check);
[[nodiscard]] std::string template_check_json(const TemplateCheck& check);

/// The lines of one rendered file with the places in templates that wrote them.
struct OriginReport {
    std::string file;
    std::string content;
    std::vector<mustache::Origin> lines;  ///< of every line of the content
    std::size_t line = 0;                 ///< only this one, from 1; 0: all
    ToolInfo tool;
};
[[nodiscard]] std::string origins_text(const OriginReport& report);
[[nodiscard]] std::string origins_json(const OriginReport& report);

/// What `lock` changed. Its findings are on stderr as well, so the text has none.
struct LockedReport {
    const std::vector<std::string>& changes;
    const std::vector<Diagnostic>& findings;
};
[[nodiscard]] std::string locked_text(const LockedReport& report);
[[nodiscard]] std::string locked_json(const LockedReport& report);

}  // namespace cudamatrix::report
