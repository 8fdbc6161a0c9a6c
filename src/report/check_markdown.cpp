// `check --format markdown`: a comment for a pull request.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "report/check_parts.hpp"
#include "report/grid.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"
#include "report/markdown.hpp"
#include "report/matrix_reports.hpp"

namespace cudamatrix::report {
namespace {

using markdown::plain;

constexpr std::size_t kWidest = 160;  // columns of the grid

std::string cells_table(const CheckReport& report) {
    std::string out = markdown::row({"cell", "verdict", "decided by"}) + markdown::rule(3);
    for (const auto& [id, verdict, decided_by] : listed_cells(report))
        out += markdown::row({id, verdict, decided_by});
    return out;
}

// A table has one line of titles: the values of a column stand in it together.
std::string grid_table(const Grid& grid) {
    auto titles = grid.row_fields;
    for (const auto& column : grid.columns)
        titles.push_back(text::join(column, " "));
    std::string out = markdown::row(titles) + markdown::rule(titles.size());
    for (std::size_t i = 0; i < grid.rows.size(); ++i) {
        auto line = grid.rows[i];
        for (const auto verdicts : grid.verdicts[i])
            line.push_back(letters(verdicts));
        out += markdown::row(line);
    }
    return out + "\n" + plain(legend(grid)) + "\n";
}

std::string item(Severity severity, std::string_view message, std::string_view tag, std::string_view fix) {
    auto out = fmt::format("- **{}** {} ({})\n", to_string(severity), plain(message), plain(tag));
    if (!fix.empty()) out += "  - fix: " + plain(fix) + "\n";
    return out;
}

}  // namespace

std::string check_markdown(const CheckReport& report) {
    const auto& judgement = report.judgement;
    auto out = fmt::format("**{}**: {}\n\n", plain(clipped(report.matrix.name, 60)),
                           verdicts_text(report.judgement));
    if (!judgement.cells.empty()) {
        out += judgement.cells.size() <= kListedCells ? cells_table(report)
                                                      : grid_table(grid_of(judgement, kWidest));
        out += "\n";
    }
    for (const auto& warning : all_warnings(report.matrix, judgement))
        out +=
            item(warning.severity, warning.message, fmt::format("line {}", warning.where.line), warning.fix);
    for (const auto& note : report.not_rendered)
        out += item(note.severity, note.message, fmt::format("line {}", note.where.line), note.fix);
    const auto findings = brief_findings(judgement);
    for (const auto& finding : findings.shown)
        out += item(finding.severity, finding.message,
                    fmt::format("{}, line {}", finding.tag, finding.where.line), finding.fix);
    if (const auto left_out = findings.left_out(); !left_out.empty())
        out += fmt::format("- not shown: {}\n", left_out);
    return out;
}

}  // namespace cudamatrix::report
