#include "report/matrix_reports.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"
#include "report/sarif.hpp"

namespace cudamatrix::report {
namespace {

// "training: 2 warnings, 1 note (1 allowed) in 85 cells and 12 images": what is zero is left out.
std::string summary(const LintReport& report) {
    std::vector<std::string> parts;
    for (const auto severity : {Severity::error, Severity::warning, Severity::note}) {
        const auto number = report.lint.count(severity);
        if (number != 0) parts.push_back(text::count(number, to_string(severity)));
    }
    return fmt::format(
        "{}: {}{} in {} and {}", clipped(report.matrix.name, 60),
        parts.empty() ? "nothing found" : text::join(parts, ", "),
        report.lint.suppressed == 0 ? "" : fmt::format(" ({} allowed)", report.lint.suppressed),
        text::count(cell_count(report.judgement), "cell"), text::count(report.lint.images, "image"));
}

Json edits_json(const std::vector<Edit>& edits) {
    return json_list(edits, [&](const auto& edit) {
        return Json{{"line", edit.line},
                    {"column", edit.column},
                    {"end_line", edit.end_line},
                    {"end_column", edit.end_column},
                    {"text", edit.text}};
    });
}

}  // namespace

std::string lint_text(const LintReport& report) {
    std::string out;
    for (const auto& finding : report.lint.findings) {
        const Diagnostic shown{finding.severity, finding.where,
                               fmt::format("{} [{}]", finding.message, finding.id), finding.notes,
                               finding.fix};
        const bool of_file = finding.where.file == report.matrix.path;
        out += render(shown, of_file ? report.matrix.source : std::string(), report.text.colour);
    }
    if (!out.empty()) out += "\n";
    return out + summary(report) + "\n";
}

std::string lint_json(const LintReport& report) {
    const auto& found = report.lint;
    JsonDocument document(report.tool);
    document.member("matrix", Json{{"name", report.matrix.name},
                                   {"path", report.matrix.path},
                                   {"cells", cell_count(report.judgement)},
                                   {"images", found.images}});
    document.member("counts", Json{{"error", found.count(Severity::error)},
                                   {"warning", found.count(Severity::warning)},
                                   {"note", found.count(Severity::note)},
                                   {"allowed", found.suppressed}});
    document.array("findings", found.findings, [&](const auto& finding) {
        return Json{{"id", finding.id},
                    {"severity", to_string(finding.severity)},
                    {"message", finding.message},
                    {"file", finding.where.file},
                    {"line", finding.where.line},
                    {"column", finding.where.column},
                    {"notes", finding.notes},
                    {"fix", finding.fix},
                    {"edits", edits_json(finding.edits)}};
    });
    return std::move(document).finish();
}

std::string lint_github(const LintReport& report) {
    std::string out;
    for (const auto& finding : report.lint.findings) {
        std::vector<std::string> lines{finding.message};
        lines.insert(lines.end(), finding.notes.begin(), finding.notes.end());
        if (!finding.fix.empty()) lines.push_back("fix: " + finding.fix);
        out += github_annotation(github_command(finding.severity), finding.where,
                                 fmt::format("lint: {}", finding.id), lines);
    }
    return out + "cudamatrix lint " + summary(report) + "\n";
}

std::string lint_sarif(const LintReport& report) {
    SarifLog log{"lint", report.matrix, report.tool, report.folder, {}, {}};
    for (const auto& check : lint::checks())
        log.rules.push_back({std::string(check.id), std::string(check.about), {}, {}, check.severity});
    for (const auto& finding : report.lint.findings) {
        SarifResult out{std::string(finding.id), finding.severity, {finding.message}, finding.where, {}};
        out.lines.insert(out.lines.end(), finding.notes.begin(), finding.notes.end());
        if (!finding.fix.empty()) out.lines.push_back("fix: " + finding.fix);
        // Not by the message: some of them name lines, or days that pass.
        out.identity = text_around(report.matrix, finding.where);
        out.properties["severity"] = to_string(finding.severity);
        out.fix = finding.fix;
        out.edits = finding.edits;
        log.results.push_back(std::move(out));
    }
    return sarif_text(std::move(log));
}

}  // namespace cudamatrix::report
