#include "base/text.hpp"
#include "knowledge/finding/finding_text.hpp"
#include "report/cell_json.hpp"
#include "report/check.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kTableCells = 64;  // more rows than a few screens help nobody

// "runtime: driver-supports-cuda (+1)": the first finding that alone gives the cell its verdict, and how many
// more do.
std::string deciding_finding(const CheckReport& report, const JudgedCell& cell) {
    if (cell.verdict == Verdict::accepted) return {};
    const Finding* first = nullptr;
    std::size_t more = 0;
    for (const auto index : cell.findings) {
        const auto& group = report.judgement.findings[index];
        const auto& finding = group.finding;
        if (group.verdict() != cell.verdict || !stage_counts(report.matrix, finding.stage)) continue;
        if (first == nullptr) {
            first = &finding;
        } else {
            ++more;
        }
    }
    if (first == nullptr) return {};
    const auto text = fmt::format("{}: {}", to_string(first->stage), first->rule);
    return more == 0 ? text : fmt::format("{} (+{})", text, more);
}

}  // namespace

std::string check_text(const CheckReport& report) {
    const bool colour = report.text.colour;
    std::string out = host_text(report.host);
    for (const auto& warning : report.matrix.warnings)
        out += render(warning, report.matrix.source, colour);
    for (const auto& group : report.judgement.findings)
        out += render_finding(group, report.matrix.source, colour);
    if (!report.matrix.warnings.empty() || !report.judgement.findings.empty()) out += "\n";

    const auto& cells = report.judgement.cells;
    if (!cells.empty() && cells.size() <= kTableCells) {
        TextTable table({{"CELL"}, {"VERDICT"}, {"DECIDED BY"}});
        for (const auto& cell : cells) {
            table.add({cell.id, std::string(to_string(cell.verdict)), deciding_finding(report, cell)});
        }
        out += table.render(report.text.width, colour) + "\n";
    }
    out += clipped(report.matrix.name, 60) + ": " + verdicts_text(report.judgement) + "\n";
    return out;
}

}  // namespace cudamatrix::report
