#include "advise/upgrade/found_way.hpp"

#include <map>
#include <utility>

#include "advise/upgrade/fleet.hpp"

namespace cudamatrix::upgrade {
namespace {

using NamedValues = std::map<std::string, std::string>;

// The cell by the names of its fields, and of its packages.
NamedValues named_values(const Cell& cell) {
    NamedValues out;
    for (const auto& field : all_fields()) {
        const auto* value = cell.get(field.field);
        if (value == nullptr) continue;
        if (field.field != Field::packages) {
            out.emplace(field.name, value->text);
            continue;
        }
        for (const auto& [package, version] : value->items)
            out.emplace(package, version);
    }
    return out;
}

}  // namespace

Result<Outcome> applied(const Matrix& matrix, const Judgement& judgement, const Facts& facts,
                        const std::string& today, FoundWay way, const Reread& read,
                        const OnProgress& on_progress) {
    CM_TRY_ASSIGN(const auto edited, read(way.source));
    JudgeOptions as_of;
    as_of.today = today;
    as_of.on_progress = on_progress;
    CM_TRY_ASSIGN(const auto now, judge_whole(edited, facts, as_of));
    Outcome out;
    out.aim = way.aim;
    out.steps = std::move(way.steps);
    out.source = std::move(way.source);
    out.verdicts = now.verdicts;
    std::map<NamedValues, const JudgedCell*> there;
    for (const auto& cell : now.cells)
        there.emplace(named_values(cell.cell), &cell);
    std::vector<diff::ReplacedCell> replaced;
    for (const auto& cell : judgement.cells) {
        const auto before = named_values(cell.cell);
        auto after = before;
        for (const auto& step : out.steps) {
            const auto value = before.find(step.field);
            if (value != before.end() && value->second == step.before && !step.now.empty())
                after[step.field] = step.now;
        }
        const auto found = there.find(after);
        const bool works = found != there.end() && found->second->verdict <= Verdict::degraded;
        if (!works && cell.verdict <= Verdict::degraded && is_kept(matrix, cell.cell))
            out.lost.push_back(cell.id);
        if (found == there.end() || found->second->id == cell.id) continue;
        auto& pair = replaced.emplace_back(diff::ReplacedCell{cell.id, found->second->id, {}});
        for (const auto& [name, value] : before) {
            if (after[name] != value) pair.changes.push_back({name, value, after[name]});
        }
    }
    out.changes = diff::compare_verdicts(diff::judged_verdicts(matrix, judgement),
                                         diff::judged_verdicts(edited, now), std::move(replaced));
    return out;
}

}  // namespace cudamatrix::upgrade
