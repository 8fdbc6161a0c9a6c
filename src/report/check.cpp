#include "report/matrix_reports.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/json.hpp"
#include "base/text.hpp"
#include "knowledge/finding/finding.hpp"
#include "report/check_parts.hpp"
#include "report/grid.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
std::string check_text(const CheckReport& report) {
    const auto& options = report.text;
    std::string out = host_text(report.host);
    const auto warnings = all_warnings(report.matrix, report.judgement);
    for (const auto& warning : warnings)
        out += render(warning, report.matrix.source, options.colour);
    for (const auto& note : report.not_rendered)
        out += render(note, report.matrix.source, options.colour);
    const auto findings = brief_findings(report.judgement);
    if (options.verbose) {
        for (const auto* group : by_severity(report.judgement))
            out += render_finding(*group, report.matrix.source, options.colour);
    } else {
        for (const auto& finding : findings.shown)
            out += render({finding.severity,
                           finding.where,
                           fmt::format("{} [{}]", finding.message, finding.tag),
                           {},
                           finding.fix},
                          {}, options.colour);
    }
    if (!out.empty()) out += "\n";

    const auto& cells = report.judgement.cells;
    constexpr std::size_t kUncut = 1'000'000;
    constexpr std::size_t kWide = 120;  // of a log
    if (!cells.empty() && cells.size() <= kListedCells) {
        TextTable table({{"CELL"}, {"VERDICT"}, {"DECIDED BY"}});
        for (auto& [id, verdict, decided_by] : listed_cells(report))
            table.add({std::move(id), std::move(verdict), std::move(decided_by)});
        out += table.render_lines(options.cut ? options.width : kUncut, options.colour) + "\n";
    } else if (!cells.empty()) {
        out +=
            grid_text(grid_of(report.judgement, options.cut ? options.width : kWide), options.colour) + "\n";
    }
    out += clipped(report.matrix.name, 60) + ": " + verdicts_text(report.judgement);
    if (const auto left_out = findings.left_out(); !options.verbose && !left_out.empty())
        out += fmt::format("; -v shows {}", left_out);
    return out + "\n";
}

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
    for (const auto& warning : warnings_and_spellings(report)) {
        std::vector<std::string> lines{warning.message};
        lines.insert(lines.end(), warning.notes.begin(), warning.notes.end());
        if (!warning.fix.empty()) lines.push_back("fix: " + warning.fix);
        out += github_annotation(github_command(warning.severity), warning.where, "matrix file", lines);
    }
    for (const auto* group : by_severity(report.judgement))
        out += annotation(*group);
    // A plain line for the log; it must not be taken for a command, whatever the matrix is called.
    out +=
        "cudamatrix check " + clipped(report.matrix.name, 60) + ": " + verdicts_text(report.judgement) + "\n";
    return out;
}

namespace {

// The rules that act on most cells first; equal ones by name.
std::vector<RuleCount> count_rules(const Judgement& judgement) {
    auto out = judgement.rules;
    const auto weight = [](const RuleCount& c) {
        return std::tuple(c.by(Severity::error), c.by(Severity::unknown), c.by(Severity::warning),
                          c.by(Severity::notice), c.by(Severity::note), c.waived);
    };
    std::ranges::sort(out, [&](const auto& a, const auto& b) {
        return weight(a) != weight(b) ? weight(a) > weight(b) : a.rule < b.rule;
    });
    return out;
}

}  // namespace

std::string check_summary_text(const CheckReport& report) {
    std::string out = host_text(report.host);
    const auto warnings = all_warnings(report.matrix, report.judgement);
    for (const auto& warning : warnings)
        out += render(warning, report.matrix.source, report.text.colour);
    if (!warnings.empty()) out += "\n";
    const auto counts = count_rules(report.judgement);
    const bool waived = std::ranges::any_of(counts, [](const RuleCount& count) { return count.waived != 0; });
    std::vector<TextTable::Column> columns{{"RULE"},           {"REJECTED", true},    {"UNKNOWN", true},
                                           {"DEGRADED", true}, {"END OF LIFE", true}, {"NOTES", true}};
    if (waived) columns.push_back({"WAIVED", true});
    TextTable table(columns);
    for (const auto& count : counts) {
        std::vector<std::string> row{count.rule,
                                     std::to_string(count.by(Severity::error)),
                                     std::to_string(count.by(Severity::unknown)),
                                     std::to_string(count.by(Severity::warning)),
                                     std::to_string(count.by(Severity::notice)),
                                     std::to_string(count.by(Severity::note))};
        if (waived) row.push_back(std::to_string(count.waived));
        table.add(std::move(row));
    }
    if (!table.empty()) out += table.render(report.text.width, report.text.colour) + "\n";
    return out + clipped(report.matrix.name, 60) + ": " + verdicts_text(report.judgement) + "\n";
}

std::string check_summary_json(const CheckReport& report) {
    JsonDocument document(report.tool);
    document.member("matrix", matrix_json(report));
    if (report.host != nullptr) document.member("host", host_json(*report.host));
    document.member("verdicts", verdicts_json(report.judgement.verdicts));
    document.member("warnings", diagnostics_json(warnings_and_spellings(report)));
    document.array("rules", count_rules(report.judgement), [&](const auto& count) {
        return Json{{"rule", count.rule},
                    {"rejected", count.by(Severity::error)},
                    {"unknown", count.by(Severity::unknown)},
                    {"degraded", count.by(Severity::warning)},
                    {"end_of_life", count.by(Severity::notice)},
                    {"notes", count.by(Severity::note)},
                    {"waived", count.waived}};
    });
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
