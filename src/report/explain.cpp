#include "report/matrix_reports.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "base/json.hpp"
#include "base/text.hpp"
#include "knowledge/finding/finding.hpp"
#include "knowledge/judge/deciding.hpp"
#include "report/check_parts.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kLines = 40;

std::string paragraph(const ExplainReport& report, std::string_view text, std::size_t indent) {
    return wrapped(text, indent, std::max<std::size_t>(report.text.width, 60), kLines);
}

std::string verdict_text(const ExplainReport& report, Verdict verdict) {
    const auto word = to_string(verdict);
    return coloured(word, colour_of(word), report.text.colour);
}

std::string stages_text(const ExplainReport& report, const JudgedCell& cell) {
    const DecidingStages deciding(report.matrix);
    std::string out = "stages:\n";
    for (std::size_t s = 0; s < kStageCount; ++s) {
        const auto stage = static_cast<Stage>(s);
        out += fmt::format("  {:<16}{}{}\n", to_string(stage), verdict_text(report, cell.stages[s]),
                           cell.stages[s] == Verdict::accepted || deciding.contain(stage, cell.cell)
                               ? ""
                               : " (does not decide the verdict)");
    }
    return out;
}

// The findings that give the cell its verdict come first.
std::vector<const FindingGroup*> worst_first(const solve::Account& account) {
    std::vector<const FindingGroup*> out;
    for (const auto& group : account.findings)
        out.push_back(&group);
    std::ranges::stable_sort(out, std::greater(), [](const FindingGroup* group) { return group->verdict(); });
    return out;
}

std::string findings_text(const ExplainReport& report, const solve::Account& account) {
    std::string out;
    for (const auto* group : worst_first(account))
        out += render_finding(*group, report.matrix.source, report.text.colour);
    return out.empty() ? out : "findings:\n" + out;
}

std::string passed_text(const ExplainReport& report, const solve::Account& account) {
    std::string out;
    for (const auto& passed : account.passed) {
        out += paragraph(
            report, fmt::format("{} [{}, at {}]", passed.sentence, passed.rule, to_string(passed.stage)), 2);
        for (const auto& fact : passed.facts)
            out += paragraph(report, fact_note(fact), 4);
    }
    if (!out.empty()) out = "passed:\n" + out;
    if (account.silent.empty()) return out;
    const std::vector<std::string> rules(account.silent.begin(), account.silent.end());
    return out + "asked, with nothing to say:\n" + paragraph(report, text::join(rules, ", "), 2);
}

std::string not_checked_text(const ExplainReport& report, const JudgedCell& cell) {
    if (cell.not_checked.empty()) return {};
    const std::vector<std::string> needs(cell.not_checked.begin(), cell.not_checked.end());
    return "not checked, for want of a field:\n" + paragraph(report, text::join(needs, "; "), 2);
}

std::string nearest_text(const ExplainReport& report, const solve::Account& account, std::size_t most) {
    if (account.cell->verdict <= Verdict::degraded) return {};
    const auto& cells = account.nearest.cells;
    if (cells.empty() && !account.nearest.complete)
        return "nearest cell that works: none found within the limit of the search\n";
    if (cells.empty())
        return fmt::format("nearest cell that works: none with up to {} other values\n", solve::kMostSteps);
    std::string out = most == 1 ? "nearest cell that works:\n" : "nearest cells that work:\n";
    for (std::size_t i = 0; i < std::min(most, cells.size()); ++i) {
        std::vector<std::string> steps;
        for (const auto& [name, from, to] : cells[i].steps)
            steps.push_back(fmt::format("{} {} instead of {}", name, to, from));
        const auto line = fmt::format("{}: {}", text::join(steps, ", "), to_string(cells[i].stack.verdict));
        out += report.text.verbose ? paragraph(report, line, 2) : "  " + text::printable(line) + "\n";
        // Not wrapped: it is to be copied.
        out += fmt::format("    - {}\n", cells[i].stack.row);
    }
    return out;
}

std::string heading(const ExplainReport& report, const JudgedCell& cell) {
    return fmt::format("{}: {}\n  {}\n", text::printable(cell.id), verdict_text(report, cell.verdict),
                       text::printable(fields_line(cell.cell)));
}

std::string verbose_text(const ExplainReport& report, const solve::Account& account) {
    const auto& cell = *account.cell;
    return heading(report, cell) + stages_text(report, cell) + findings_text(report, account) +
           passed_text(report, account) + not_checked_text(report, cell) +
           nearest_text(report, account, solve::kMostNeighbours);
}

// What decides the verdict: the first finding with its facts and fix, the others by their names.
std::string reason_text(const ExplainReport& report, const solve::Account& account) {
    const auto& cell = *account.cell;
    const auto deciding = deciding_findings(DecidingStages(report.matrix), cell, worst_first(account));
    if (deciding.empty()) return {};
    constexpr std::size_t kMostFacts = 2;
    const auto& first = *deciding.front();
    auto out = fmt::format("{}: {} [{}]\n", where_it_strikes(first, cell.verdict),
                           text::printable(first.message), first.rule);
    for (std::size_t i = 0; i < std::min(kMostFacts, first.facts.size()); ++i)
        out += "  " + text::printable(fact_note(first.facts[i])) + "\n";
    if (first.facts.size() > kMostFacts)
        out += fmt::format("  and {}\n", text::count(first.facts.size() - kMostFacts, "more fact"));
    if (const auto fix = first.fix_text(); !fix.empty()) out += "  fix: " + text::printable(fix) + "\n";
    if (deciding.size() == 1) return out;
    std::vector<std::string> others;
    for (std::size_t i = 1; i < deciding.size(); ++i)
        others.push_back(
            fmt::format("{} ({})", deciding[i]->rule, where_it_strikes(*deciding[i], cell.verdict)));
    return out + fmt::format("also: {}\n", text::join(others, ", "));
}

std::string brief_text(const ExplainReport& report, const solve::Account& account) {
    const auto& cell = *account.cell;
    auto out = heading(report, cell);
    if (!cell.held.empty()) out += "unknown: " + text::printable(cell.held) + "\n";
    out += reason_text(report, account) + nearest_text(report, account, 1);
    const auto ends = std::ranges::count_if(account.findings, [](const FindingGroup& group) {
        return group.finding.severity == Severity::notice;
    });
    out += fmt::format("passed: {}; ", account.passed.size());
    if (ends != 0) out += fmt::format("end of life: {}; ", ends);
    return out + fmt::format("not checked for want of a field: {} (-v lists all)\n", cell.not_checked.size());
}

std::string left_out_text(const ExplainReport& report, const solve::LeftOut& left) {
    std::string out = fmt::format("{}: left out\n", text::printable(left.id));
    for (const auto& where : left.excludes) {
        Diagnostic line{Severity::note, where, "this exclude leaves it out", {}, {}};
        out += render(line, report.matrix.source, report.text.colour);
    }
    return out;
}

}  // namespace

std::string explain_text(const ExplainReport& report) {
    const auto& explanation = report.explanation;
    std::vector<std::string> parts;
    for (const auto& account : explanation.cells)
        parts.push_back(report.text.verbose ? verbose_text(report, account) : brief_text(report, account));
    for (const auto& left : explanation.left_out)
        parts.push_back(left_out_text(report, left));
    for (const auto& absent : explanation.absent)
        parts.push_back(paragraph(report, "not in the matrix: " + absent, 0));
    if (const auto more = explanation.more_cells + explanation.more_left_out; more != 0)
        parts.push_back(fmt::format("and {} (--limit)\n", text::count(more, "more cell")));
    return text::join(parts, "\n");
}

namespace {

Json nearest_json(const solve::Neighbour& neighbour) {
    auto changes = Json::array();
    for (const auto& [name, from, to] : neighbour.steps)
        changes.push_back(Json{{"name", name}, {"from", from}, {"to", to}});
    return Json{{"changes", std::move(changes)},
                {"verdict", to_string(neighbour.stack.verdict)},
                {"fields", fields_json(neighbour.stack.cell())},
                {"row", neighbour.stack.row}};
}

Json account_json(const solve::Account& account) {
    const auto& cell = *account.cell;
    auto findings = Json::array();
    for (const auto& group : account.findings) {
        auto finding = finding_json(group.finding);
        finding["waived"] = group.waived.has_value();
        findings.push_back(std::move(finding));
    }
    auto passed = json_list(account.passed, [&](const auto& each) {
        return Json{{"rule", each.rule},
                    {"stage", to_string(each.stage)},
                    {"sentence", each.sentence},
                    {"facts", facts_json(each.facts)}};
    });
    auto nearest = json_list(account.nearest.cells, nearest_json);
    return Json{{"id", cell.id},
                {"fields", fields_json(cell.cell)},
                {"verdict", to_string(cell.verdict)},
                {"stages", stages_json(cell)},
                {"findings", std::move(findings)},
                {"passed", std::move(passed)},
                {"silent", account.silent},
                {"not_checked", cell.not_checked},
                {"nearest", std::move(nearest)},
                {"nearest_whole", account.nearest.complete}};
}

Json left_out_json(const solve::LeftOut& left) {
    auto excludes = json_list(left.excludes, [&](const auto& where) {
        return Json{{"file", where.file}, {"line", where.line}, {"column", where.column}};
    });
    return Json{{"id", left.id}, {"excludes", std::move(excludes)}};
}

}  // namespace

std::string explain_json(const ExplainReport& report) {
    const auto& explanation = report.explanation;
    JsonDocument document(report.tool);
    document.member("matrix", Json{{"name", report.matrix.name}, {"path", report.matrix.path}});
    document.array("cells", explanation.cells, account_json);
    document.member("more_cells", explanation.more_cells);
    document.array("left_out", explanation.left_out, left_out_json);
    document.member("more_left_out", explanation.more_left_out);
    document.member("absent", explanation.absent);
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
