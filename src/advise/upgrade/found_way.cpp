#include "advise/upgrade/found_way.hpp"

#include <utility>

namespace cudamatrix::upgrade {
namespace {

// In the order of the fields, packages last.
NamedValues named_values(const Cell& cell) {
    NamedValues out;
    for (const auto& field : all_fields()) {
        const auto* value = cell.get(field.field);
        if (value != nullptr && field.field != Field::packages) out.emplace_back(field.name, value->text);
    }
    if (const auto* packages = cell.get(Field::packages))
        out.insert(out.end(), packages->items.begin(), packages->items.end());
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
    std::vector<NamedValues> after;
    for (const auto& cell : judgement.cells) {
        auto& values = after.emplace_back(named_values(cell.cell));
        for (auto& [name, value] : values) {
            const auto before = value;
            for (const auto& step : out.steps) {
                if (step.field == name && step.before == before && !step.now.empty()) value = step.now;
            }
        }
    }
    compare_edited(matrix, judgement, after, edited, now, named_values, out);
    return out;
}

}  // namespace cudamatrix::upgrade
