#include "base/text.hpp"
#include "report/cell_json.hpp"
#include "report/check.hpp"
#include "report/github.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

std::string annotation(const FindingGroup& group) {
    const auto& finding = group.finding;
    std::vector<std::string> lines{finding.message};
    if (group.cells > 0)
        lines.push_back(fmt::format("{}, first {}", text::count(group.cells, "cell"), group.first_cell));
    if (group.waived)
        lines.push_back(fmt::format("waived until {}: {}", group.waived->until, group.waived->because));
    if (const auto fix = finding.fix_text(); !fix.empty()) lines.push_back("fix: " + fix);
    const auto prefix = group.waived ? "waived: " : finding.severity == Severity::unknown ? "unknown: " : "";
    const auto title = fmt::format("{}{} ({})", prefix, finding.rule, to_string(finding.stage));
    return github_annotation(github_command(group.waived ? Severity::note : finding.severity), group.where,
                             title, lines);
}

}  // namespace

std::string check_github(const CheckReport& report) {
    std::string out;
    for (const auto& warning : report.matrix.warnings) {
        std::vector<std::string> lines{warning.message};
        lines.insert(lines.end(), warning.notes.begin(), warning.notes.end());
        if (!warning.fix.empty()) lines.push_back("fix: " + warning.fix);
        out += github_annotation(github_command(warning.severity), warning.where, "matrix file", lines);
    }
    for (const auto& group : report.judgement.findings)
        out += annotation(group);
    // A plain line for the log; it must not be taken for a command, whatever the matrix is called.
    out +=
        "cudamatrix check " + clipped(report.matrix.name, 60) + ": " + verdicts_text(report.judgement) + "\n";
    return out;
}

}  // namespace cudamatrix::report
