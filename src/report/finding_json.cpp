#include "report/cell_json.hpp"

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

}  // namespace

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

}  // namespace cudamatrix::report
