#include "base/json.hpp"
#include "report/cell_json.hpp"
#include "report/explain_report.hpp"
#include "report/json_document.hpp"

namespace cudamatrix::report {
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

Json account_json(const ExplainReport& report, const solve::Account& account) {
    const auto& cell = *account.cell;
    auto findings = Json::array();
    for (const auto id : cell.findings) {
        const auto& group = report.judgement.findings[id];
        auto finding = finding_json(group.finding);
        finding["waived"] = group.waived.has_value();
        findings.push_back(std::move(finding));
    }
    auto passed = Json::array();
    for (const auto& each : account.passed) {
        passed.push_back(Json{{"rule", each.rule},
                              {"stage", to_string(each.stage)},
                              {"question", each.question},
                              {"facts", facts_json(each.facts)}});
    }
    auto nearest = Json::array();
    for (const auto& neighbour : account.nearest.cells)
        nearest.push_back(nearest_json(neighbour));
    return Json{{"id", cell.id},
                {"fields", fields_json(cell.cell)},
                {"verdict", to_string(cell.verdict)},
                {"stages", stages_json(cell)},
                {"findings", std::move(findings)},
                {"passed", std::move(passed)},
                {"silent", account.silent},
                {"not_checked", cell.not_checked},
                {"nearest", std::move(nearest)},
                {"nearest_whole", account.nearest.whole}};
}

Json left_out_json(const solve::LeftOut& left) {
    auto excludes = Json::array();
    for (const auto& where : left.excludes)
        excludes.push_back(Json{{"file", where.file}, {"line", where.line}, {"column", where.column}});
    return Json{{"id", left.id}, {"excludes", std::move(excludes)}};
}

}  // namespace

std::string explain_json(const ExplainReport& report) {
    const auto& explanation = report.explanation;
    JsonDocument document(report.tool);
    document.member("matrix", Json{{"name", report.matrix.name}, {"path", report.matrix.path}});
    document.begin_array("cells");
    for (const auto& account : explanation.cells)
        document.element(account_json(report, account));
    document.end_array();
    document.member("more_cells", explanation.more_cells);
    document.begin_array("left_out");
    for (const auto& left : explanation.left_out)
        document.element(left_out_json(left));
    document.end_array();
    document.member("more_left_out", explanation.more_left_out);
    document.member("absent", explanation.absent);
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
