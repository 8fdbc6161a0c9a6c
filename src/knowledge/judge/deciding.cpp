#include "knowledge/judge/deciding.hpp"

#include <algorithm>

#include "knowledge/resolve/building.hpp"

namespace cudamatrix {

DecidingStages::DecidingStages(const Matrix& matrix) {
    if (matrix.stages.empty()) return;
    named_.emplace();
    for (const auto& name : matrix.stages)
        (*named_)[static_cast<std::size_t>(*stage_named(name))] = true;
}

bool DecidingStages::contain(Stage stage, const Cell& cell, rules::ReadLog* log) const {
    if (named_) return (*named_)[static_cast<std::size_t>(stage)];
    if (stage == Stage::build)
        return rules::compiles(rules::ProjectedCell(cell, rules::kReadByCompiles, log));
    return stage != Stage::torch_compile;
}

Verdict DecidingStages::weigh(Stage stage, Verdict verdict, const Cell& cell, rules::ReadLog* log) const {
    if (verdict <= Verdict::degraded || contain(stage, cell, log)) return verdict;
    return verdict == Verdict::rejected ? Verdict::degraded : Verdict::accepted;
}

Verdict DecidingStages::worst(const std::array<Verdict, kStageCount>& stages, const Cell& cell) const {
    auto verdict = Verdict::accepted;
    for (std::size_t s = 0; s < kStageCount; ++s)
        verdict = std::max(verdict, weigh(static_cast<Stage>(s), stages[s], cell));
    return verdict;
}

std::vector<const Finding*> deciding_findings(const DecidingStages& deciding, const JudgedCell& cell,
                                              const std::vector<const FindingGroup*>& findings) {
    std::vector<const Finding*> out;
    if (cell.verdict == Verdict::accepted) return out;
    for (const auto* group : findings) {
        if (deciding.weigh(group->finding.stage, group->verdict(), cell.cell) == cell.verdict)
            out.push_back(&group->finding);
    }
    return out;
}

std::vector<const Finding*> deciding_findings(const DecidingStages& deciding, const JudgedCell& cell,
                                              const Judgement& judgement) {
    std::vector<const FindingGroup*> groups;
    for (const auto id : cell.findings)
        groups.push_back(&judgement.findings[id]);
    return deciding_findings(deciding, cell, groups);
}

}  // namespace cudamatrix
