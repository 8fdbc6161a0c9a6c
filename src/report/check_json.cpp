#include "base/json.hpp"
#include "report/cell_json.hpp"
#include "report/check.hpp"
#include "report/json_document.hpp"

namespace cudamatrix::report {
namespace {

Json facts_of(const Finding& finding) {
    auto out = Json::array();
    for (const auto& fact : finding.facts) {
        out.push_back(Json{{"id", fact.id},
                           {"source", fact.sources.empty() ? std::string() : fact.sources.front()},
                           {"sources", fact.sources},
                           {"as_of", fact.as_of},
                           {"confidence", to_string(fact.confidence)}});
    }
    return out;
}

Json values_by_field(const std::vector<std::pair<Field, std::string>>& values) {
    auto out = Json::object();
    for (const auto& [field, text] : values)
        out[std::string(info(field).name)] = text;
    return out;
}

// Each fix is one way out: the fields to set, or the condition to put under exclude.
Json fixes_of(const Finding& finding) {
    auto out = Json::array();
    for (const auto& fix : finding.fixes) {
        out.push_back(Json{{"text", fix.text},
                           {"set", values_by_field(fix.set)},
                           {"exclude", values_by_field(fix.exclude)}});
    }
    return out;
}

Json finding_json(const FindingGroup& group) {
    const auto& finding = group.finding;
    Json out{{"rule", finding.rule},
             {"stage", to_string(finding.stage)},
             {"severity", to_string(finding.severity)},
             {"message", finding.message},
             {"fix", finding.fix_text()},
             {"fixes", fixes_of(finding)},
             {"facts", facts_of(finding)},
             {"field", info(finding.primary).name},
             {"file", group.where.file},
             {"line", group.where.line},
             {"column", group.where.column}};
    if (group.waived) {
        out["waived"] = Json{{"because", group.waived->because},
                             {"until", group.waived->until},
                             {"line", group.waived->where.line}};
    }
    return out;
}

Json stages_json(const JudgedCell& cell) {
    auto out = Json::object();
    for (std::size_t stage = 0; stage < kStageCount; ++stage) {
        out[std::string(to_string(static_cast<Stage>(stage)))] = to_string(cell.stages[stage]);
    }
    return out;
}

}  // namespace

std::string check_json(const CheckReport& report) {
    JsonDocument document(report.tool);
    document.member("matrix", matrix_json(report));
    if (report.host != nullptr) document.member("host", host_json(*report.host));
    document.member("verdicts", verdicts_json(report.judgement));
    document.member("warnings", diagnostics_json(report.matrix.warnings));
    // Many cells share a finding: it is turned into text once.
    std::vector<std::string> findings;
    for (const auto& group : report.judgement.findings)
        findings.push_back(to_text(finding_json(group), false));

    document.begin_array("cells");
    for (const auto& cell : report.judgement.cells) {
        const Json head{{"id", cell.id},
                        {"fields", fields_json(cell.cell)},
                        {"verdict", to_string(cell.verdict)},
                        {"stages", stages_json(cell)}};
        auto line = to_text(head, false);
        line.back() = ',';
        line += "\"findings\":[";
        for (std::size_t i = 0; i < cell.findings.size(); ++i) {
            if (i != 0) line += ',';
            line += findings[cell.findings[i]];
        }
        line += "],\"not_checked\":" + to_text(Json(cell.not_checked), false) + "}";
        document.element_text(line);
    }
    document.end_array();
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
