#include "advise/diff/verdict_changes.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "knowledge/finding/finding.hpp"

namespace cudamatrix::diff {
namespace {

RecordedVerdict to_record(const JudgedCell& cell, const std::vector<const Finding*>& findings) {
    std::set<std::string> rules;
    for (const auto* finding : findings)
        rules.emplace(finding->rule);
    return {std::string(to_string(cell.verdict)), {rules.begin(), rules.end()}};
}

std::ptrdiff_t badness(const Verdicts& side, const RecordedVerdict& verdict) {
    return std::ranges::find(side.words, verdict.verdict) - side.words.begin();
}

}  // namespace

RecordedVerdicts verdicts_to_record(const Matrix& matrix, const Judgement& judgement) {
    const DecidingStages deciding(matrix);
    RecordedVerdicts out;
    for (const auto& cell : judgement.cells)
        out.emplace(cell.id, to_record(cell, deciding_findings(deciding, cell, judgement)));
    return out;
}

std::vector<std::string> Verdicts::because(std::string_view cell) const {
    std::vector<std::string> lines;
    if (const auto judged = cells.find(cell); judged != cells.end()) {
        for (const auto* finding : deciding_findings(deciding, *judged->second, *judgement))
            lines.push_back(finding_line(*finding));
        if (lines.empty() && !judged->second->held.empty()) lines.push_back(judged->second->held);
    } else if (const auto reason = reasons.find(cell); reason != reasons.end()) {
        lines.push_back(reason->second);
    }
    return lines;
}

Verdicts judged_verdicts(const Matrix& matrix, const Judgement& judgement) {
    Verdicts out;
    out.by_cell = verdicts_to_record(matrix, judgement);
    out.judgement = &judgement;
    out.deciding = DecidingStages(matrix);
    for (const auto& cell : judgement.cells) {
        out.order.push_back(cell.id);
        out.cells.emplace(cell.id, &cell);
    }
    return out;
}

Verdicts recorded_verdicts(const RecordedVerdicts& recorded) {
    Verdicts out;
    out.by_cell = recorded;
    for (const auto& [cell, verdict] : recorded)
        out.order.push_back(cell);
    return out;
}

std::vector<MovedGroup> grouped(const std::vector<MovedVerdict>& moved) {
    std::vector<MovedGroup> out;
    std::map<std::string, std::size_t> known;
    for (const auto& cell : moved) {
        auto key = cell.before.verdict + '\n' + cell.now.verdict;
        for (const auto* list : {&cell.before.rules, &cell.now.rules, &cell.because}) {
            key += '\n';
            for (const auto& line : *list)
                key += '\n' + line;
        }
        const auto [place, is_new] = known.emplace(std::move(key), out.size());
        if (is_new) out.push_back({cell.before, cell.now, cell.because, cell.worse, {}});
        out[place->second].cells.push_back(cell.cell);
    }
    std::ranges::stable_sort(out, std::ranges::greater(), &MovedGroup::worse);
    return out;
}

namespace {

// Of the cells of one side that the other lacks, those whose values are known.
CellsById cells_of_one(const Verdicts& side, const Verdicts& other) {
    CellsById out;
    for (const auto& [id, cell] : side.cells) {
        if (!other.by_cell.contains(id)) out.emplace(id, cell);
    }
    return out;
}

}  // namespace

VerdictChanges compare_verdicts(const Verdicts& before, const Verdicts& now) {
    return compare_verdicts(before, now,
                            replaced_cells(cells_of_one(before, now), cells_of_one(now, before)));
}

VerdictChanges compare_verdicts(const Verdicts& before, const Verdicts& now,
                                std::vector<ReplacedCell> replaced) {
    VerdictChanges out;
    out.replaced = std::move(replaced);
    std::map<std::string_view, std::string_view> was;
    std::set<std::string_view> is_replaced;
    for (const auto& pair : out.replaced) {
        was.emplace(pair.now, pair.before);
        is_replaced.insert(pair.before);
    }
    for (const auto& id : now.order) {
        const auto& verdict = now.by_cell.find(id)->second;
        const auto other = was.find(id);
        const auto old = before.by_cell.find(other == was.end() ? std::string_view(id) : other->second);
        if (old == before.by_cell.end()) {
            out.fresh.push_back({id, verdict});
        } else if (old->second.verdict == verdict.verdict) {
            ++out.same;
        } else {
            const bool worse = badness(now, verdict) > badness(now, old->second);
            out.moved.push_back({id, old->second, verdict, now.because(id), worse});
        }
    }
    for (const auto& id : before.order) {
        if (!now.by_cell.contains(id) && !is_replaced.contains(id)) out.gone.push_back(id);
    }
    return out;
}

}  // namespace cudamatrix::diff
