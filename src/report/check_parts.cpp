#include "report/check_parts.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/text.hpp"

namespace cudamatrix::report {

std::vector<Diagnostic> warnings_and_spellings(const CheckReport& report) {
    auto out = all_warnings(report.matrix, report.judgement);
    const auto notes = spelling_notes(report.matrix);
    out.insert(out.end(), notes.begin(), notes.end());
    out.insert(out.end(), report.not_rendered.begin(), report.not_rendered.end());
    return out;
}

std::vector<const FindingGroup*> by_severity(const Judgement& judgement) {
    static constexpr std::array kRanks{/* error */ 0, /* warning */ 2, /* unknown */ 1, /* note */ 4,
                                       /* notice */ 3};
    static_assert(kRanks.size() == kSeverityCount);
    constexpr int kWaived = 5;
    std::vector<const FindingGroup*> out;
    for (const auto& group : judgement.findings)
        out.push_back(&group);
    std::ranges::stable_sort(out, {}, [](const FindingGroup* group) {
        return group->waived ? kWaived : kRanks[static_cast<std::size_t>(group->finding.severity)];
    });
    return out;
}

namespace {

BriefFinding brief(const FindingGroup& group) {
    const auto& finding = group.finding;
    return {finding.severity, group.where, finding.message,
            fmt::format("{}, at {}, {}", finding.rule, to_string(finding.stage),
                        text::count(group.cells, "cell")),
            finding.fix_text()};
}

// Groups that lack the same: the cells are those of all of them.
BriefFinding brief(const Judgement& judgement, const std::vector<const FindingGroup*>& groups) {
    if (groups.size() == 1) return brief(*groups.front());
    auto out = brief(*groups.front());
    std::vector<std::string> rules;
    for (const auto* group : groups) {
        auto rule = fmt::format("{} at {}", group->finding.rule, to_string(group->finding.stage));
        if (std::ranges::find(rules, rule) == rules.end()) rules.push_back(std::move(rule));
        if (out.fix.empty()) out.fix = group->finding.fix_text();
    }
    const auto met = std::ranges::count_if(judgement.cells, [&](const JudgedCell& cell) {
        return std::ranges::any_of(cell.findings, [&](std::uint32_t id) {
            return std::ranges::find(groups, &judgement.findings[id]) != groups.end();
        });
    });
    out.message = fmt::format("{}: {} cannot be answered", groups.front()->finding.gap,
                              text::count(groups.size(), "question"));
    out.tag =
        fmt::format("{}, {}", text::join(rules, ", "), text::count(static_cast<std::size_t>(met), "cell"));
    return out;
}

}  // namespace

std::string BriefFindings::left_out() const {
    std::vector<std::string> parts;
    if (notes != 0) parts.push_back(text::count(notes, "note"));
    if (waived != 0) parts.push_back(text::count(waived, "waived finding"));
    return text::join(parts, ", ");
}

BriefFindings brief_findings(const Judgement& judgement) {
    BriefFindings out;
    std::vector<std::vector<const FindingGroup*>> merged;
    std::map<std::tuple<std::string, std::size_t, std::size_t>, std::size_t> gaps;
    for (const auto* group : by_severity(judgement)) {
        if (group->waived || group->finding.severity == Severity::note) {
            ++(group->waived ? out.waived : out.notes);
            continue;
        }
        const auto& gap = group->finding.gap;
        const std::tuple key(gap, group->where.line, group->where.column);
        const auto [at, is_new] =
            gap.empty() ? std::pair(gaps.end(), true) : gaps.emplace(key, merged.size());
        if (is_new) {
            merged.push_back({group});
        } else {
            merged[at->second].push_back(group);
        }
    }
    for (const auto& groups : merged)
        out.shown.push_back(brief(judgement, groups));
    return out;
}

std::string where_it_strikes(const Finding& finding, Verdict cell) {
    if (finding.verdict() == cell) return std::string(to_string(finding.stage));
    return fmt::format("no {}",
                       finding.stage == Stage::torch_compile ? "torch.compile" : to_string(finding.stage));
}

namespace {

std::string deciding_text(const CheckReport& report, const DecidingStages& deciding, const JudgedCell& cell) {
    const auto findings = deciding_findings(deciding, cell, report.judgement);
    if (findings.empty()) return {};
    const auto text =
        fmt::format("{}: {}", where_it_strikes(*findings.front(), cell.verdict), findings.front()->rule);
    return findings.size() == 1 ? text : fmt::format("{} (+{})", text, findings.size() - 1);
}

}  // namespace

std::vector<std::array<std::string, 3>> listed_cells(const CheckReport& report) {
    const DecidingStages deciding(report.matrix);
    std::vector<std::array<std::string, 3>> out;
    for (const auto& cell : report.judgement.cells) {
        out.push_back({cell.id, std::string(to_string(cell.verdict)), deciding_text(report, deciding, cell)});
    }
    return out;
}

}  // namespace cudamatrix::report
