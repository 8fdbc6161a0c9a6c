// `check --format sarif`.
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "knowledge/rules/rule.hpp"
#include "report/check_parts.hpp"
#include "report/json.hpp"
#include "report/markdown.hpp"
#include "report/matrix_reports.hpp"
#include "report/sarif.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::string_view kMatrixFile = "matrix-file";  // what is said of the file, not of cells

SarifRule shown(const rules::Rule& rule) {
    return {std::string(rule.id), std::string(rule.summary), std::string(rule.why),
            fmt::format("{}\n\nFails:\n\n```yaml\nset: {{{}}}\n```\n\nPasses:\n\n```yaml\nset: {{{}}}\n```\n",
                        markdown::block(rule.why), rule.fails, rule.passes)};
}

// Everything that can be found, whether it is or not: GitHub compares the rules of two uploads.
std::vector<SarifRule> rules_of(const Matrix& matrix) {
    std::vector<SarifRule> out;
    for (const auto& rule : rules::all_rules())
        out.push_back(shown(rule));
    out.push_back({std::string(kWaiverExpired), "A waiver of the matrix file is past its last day"});
    for (const auto& own : matrix.rules) {
        auto why = own.because;
        if (!own.source.empty()) why += fmt::format(" ({})", own.source);
        out.push_back({own.id, "A rule of the matrix file: " + own.because, why, markdown::block(why) + "\n",
                       own.severity});
    }
    out.push_back({std::string(kMatrixFile),
                   "What has no effect in a matrix file, or what its images and "
                   "services ask for and do not get"});
    return out;
}

SarifResult said(const Diagnostic& warning, const Matrix& matrix) {
    SarifResult out{std::string(kMatrixFile), warning.severity, {warning.message}, warning.where, {}};
    out.lines.insert(out.lines.end(), warning.notes.begin(), warning.notes.end());
    if (!warning.fix.empty()) out.lines.push_back("fix: " + warning.fix);
    out.identity = fmt::format("{}\n{}", warning.message, text_around(matrix, warning.where));
    out.properties["severity"] = to_string(warning.severity);
    return out;
}

// What of its first cell the finding is about: the values, not the sentence, which new facts may change.
std::string identity_of(const Finding& finding, const JudgedCell* first) {
    auto out = fmt::format("{}\n{}", finding.aspect, to_string(finding.stage));
    for (const auto field : finding.about) {
        const auto* value = first == nullptr ? nullptr : first->cell.get(field);
        if (value != nullptr) out += fmt::format("\n{}={}", info(field).name, value->text);
    }
    return out;
}

SarifResult found(const FindingGroup& group, const JudgedCell* first) {
    const auto& finding = group.finding;
    SarifResult out{
        std::string(finding.rule), finding.severity, {}, group.where, identity_of(finding, first)};
    auto where = fmt::format("at {}", to_string(finding.stage));
    if (group.cells > 0)
        where += fmt::format(", {}, first {}", text::count(group.cells, "cell"), group.first_cell);
    const auto prefix = finding.severity == Severity::unknown ? "unknown: " : "";
    out.lines.push_back(fmt::format("{}{} ({})", prefix, finding.message, where));
    if (group.waived)
        out.lines.push_back(fmt::format("waived until {}: {}", group.waived->until, group.waived->because));
    if (const auto fix = finding.fix_text(); !fix.empty()) out.lines.push_back("fix: " + fix);
    out.waived = group.waived;
    // Sources are no related locations: GitHub refuses addresses of another scheme than the checkout's.
    out.properties = Json{{"severity", to_string(finding.severity)},
                          {"stage", to_string(finding.stage)},
                          {"cells", group.cells},
                          {"firstCell", group.first_cell},
                          {"facts", facts_json(finding.facts)}};
    return out;
}

}  // namespace

std::string check_sarif(const CheckReport& report) {
    std::unordered_map<std::string_view, const JudgedCell*> cells;
    for (const auto& cell : report.judgement.cells)
        cells.emplace(cell.id, &cell);
    SarifLog log{"check", report.matrix, report.tool, report.folder, rules_of(report.matrix), {}};
    for (const auto* group : by_severity(report.judgement)) {
        const auto first = cells.find(group->first_cell);
        log.results.push_back(found(*group, first == cells.end() ? nullptr : first->second));
    }
    for (const auto& warning : warnings_and_spellings(report))
        log.results.push_back(said(warning, report.matrix));
    return sarif_text(std::move(log));
}

}  // namespace cudamatrix::report
