#include <algorithm>
#include <tuple>

#include "base/text.hpp"
#include "report/cell_json.hpp"
#include "report/check.hpp"
#include "report/json_document.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

// The rules that act on most cells first; equal ones by name.
std::vector<RuleCount> count_rules(const Judgement& judgement) {
    auto out = judgement.rules;
    const auto weight = [](const RuleCount& c) {
        return std::tuple(c.by(Severity::error), c.by(Severity::unknown), c.by(Severity::warning),
                          c.by(Severity::note), c.waived);
    };
    std::sort(out.begin(), out.end(), [&](const auto& a, const auto& b) {
        return weight(a) != weight(b) ? weight(a) > weight(b) : a.rule < b.rule;
    });
    return out;
}

}  // namespace

std::string check_summary_text(const CheckReport& report) {
    std::string out = host_text(report.host);
    for (const auto& warning : report.matrix.warnings)
        out += render(warning, report.matrix.source, report.text.colour);
    if (!report.matrix.warnings.empty()) out += "\n";
    const auto counts = count_rules(report.judgement);
    const bool waived =
        std::any_of(counts.begin(), counts.end(), [](const RuleCount& count) { return count.waived != 0; });
    std::vector<TextTable::Column> columns{
        {"RULE"}, {"REJECTED", true}, {"UNKNOWN", true}, {"DEGRADED", true}, {"NOTES", true}};
    if (waived) columns.push_back({"WAIVED", true});
    TextTable table(columns);
    for (const auto& count : counts) {
        std::vector<std::string> row{count.rule, std::to_string(count.by(Severity::error)),
                                     std::to_string(count.by(Severity::unknown)),
                                     std::to_string(count.by(Severity::warning)),
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
    document.member("verdicts", verdicts_json(report.judgement));
    document.member("warnings", diagnostics_json(report.matrix.warnings));
    document.begin_array("rules");
    for (const auto& count : count_rules(report.judgement)) {
        document.element(Json{{"rule", count.rule},
                              {"rejected", count.by(Severity::error)},
                              {"unknown", count.by(Severity::unknown)},
                              {"degraded", count.by(Severity::warning)},
                              {"notes", count.by(Severity::note)},
                              {"waived", count.waived}});
    }
    document.end_array();
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
