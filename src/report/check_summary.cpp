#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "report/cell_json.hpp"
#include "report/check.hpp"
#include "report/json_document.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

struct RuleCount {
    std::string rule;
    std::array<std::uint64_t, 4> cells{};  // by Severity

    [[nodiscard]] std::uint64_t by(Severity severity) const {
        return cells[static_cast<std::size_t>(severity)];
    }
};

using Counts = std::map<std::string_view, RuleCount>;

void count_one(Counts& counts, const Finding& finding, std::uint64_t cells) {
    auto& count = counts[finding.rule];
    count.rule = finding.rule;
    count.cells[static_cast<std::size_t>(finding.severity)] += cells;
}

// Where the cells are listed, one that two findings of a rule meet counts once. Where they are not (too
// many), the counts of the groups are all there is.
Counts count_cells_of_rules(const Judgement& judgement) {
    Counts counts;
    if (judgement.cells.empty()) {
        for (const auto& group : judgement.findings)
            count_one(counts, group.finding, group.cells);
    }
    for (const auto& cell : judgement.cells) {
        for (auto at = cell.findings.begin(); at != cell.findings.end(); ++at) {
            const auto& finding = judgement.findings[*at].finding;
            const bool seen = std::any_of(cell.findings.begin(), at, [&](std::uint32_t earlier) {
                const auto& other = judgement.findings[earlier].finding;
                return other.rule == finding.rule && other.severity == finding.severity;
            });
            if (!seen) count_one(counts, finding, 1);
        }
    }
    return counts;
}

// The rules that act on most cells first; equal ones by name.
std::vector<RuleCount> count_rules(const Judgement& judgement) {
    auto by_rule = count_cells_of_rules(judgement);
    std::vector<RuleCount> out;
    for (auto& [rule, count] : by_rule)
        out.push_back(std::move(count));
    const auto weight = [](const RuleCount& c) {
        return std::tuple(c.by(Severity::error), c.by(Severity::unknown), c.by(Severity::warning),
                          c.by(Severity::note));
    };
    std::stable_sort(out.begin(), out.end(),
                     [&](const auto& a, const auto& b) { return weight(a) > weight(b); });
    return out;
}

}  // namespace

std::string check_summary_text(const CheckReport& report) {
    std::string out;
    for (const auto& warning : report.matrix.warnings)
        out += render(warning, report.matrix.source, report.text.colour);
    if (!out.empty()) out += "\n";
    TextTable table({{"RULE"}, {"REJECTED", true}, {"UNKNOWN", true}, {"DEGRADED", true}, {"NOTES", true}});
    for (const auto& count : count_rules(report.judgement)) {
        table.add({count.rule, std::to_string(count.by(Severity::error)),
                   std::to_string(count.by(Severity::unknown)), std::to_string(count.by(Severity::warning)),
                   std::to_string(count.by(Severity::note))});
    }
    if (!table.empty()) out += table.render(report.text.width, report.text.colour) + "\n";
    return out + clipped(report.matrix.name, 60) + ": " + verdicts_text(report.judgement) + "\n";
}

std::string check_summary_json(const CheckReport& report) {
    JsonDocument document(report.tool);
    document.member("matrix", matrix_json(report));
    document.member("verdicts", verdicts_json(report.judgement));
    document.member("warnings", diagnostics_json(report.matrix.warnings));
    document.begin_array("rules");
    for (const auto& count : count_rules(report.judgement)) {
        document.element(Json{{"rule", count.rule},
                              {"rejected", count.by(Severity::error)},
                              {"unknown", count.by(Severity::unknown)},
                              {"degraded", count.by(Severity::warning)},
                              {"notes", count.by(Severity::note)}});
    }
    document.end_array();
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
