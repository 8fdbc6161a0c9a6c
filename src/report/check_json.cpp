#include "base/json.hpp"
#include "report/cell_json.hpp"
#include "report/check.hpp"
#include "report/json_document.hpp"

namespace cudamatrix::report {
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
