#include "advise/review/moves.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "advise/upgrade/newer_values.hpp"
#include "knowledge/solve/conflict.hpp"

namespace cudamatrix::review {
namespace {

// Rules by the number of cells that they speak against, each with what it says of the first.
class Reasons {
  public:
    void add(upgrade::Fleet& fleet, std::size_t cell, const upgrade::Target& target) {
        for (const auto rule : fleet.refused_by(cell, target)) {
            auto& reason = by_rule_[rule];
            if (reason.cells++ != 0) continue;
            const auto finding = fleet.refusal(rule, cell, target);
            reason = {std::string(finding.rule), finding.message, 1, finding.facts, finding.verdict()};
        }
    }

    std::vector<Reason> finish() && {
        std::vector<Reason> out;
        for (auto& [rule, reason] : by_rule_)
            out.push_back(std::move(reason));
        sort_reasons(out);
        return out;
    }

  private:
    std::map<std::size_t, Reason> by_rule_;
};

bool works(Verdict verdict) {
    return verdict <= solve::kGoodEnough;
}

class Moving {
  public:
    explicit Moving(upgrade::Fleet& fleet) : fleet_(fleet), present_(fleet.present()) {
        for (std::size_t cell = 0; cell < fleet_.judgement().cells.size(); ++cell)
            works_now_.push_back(works(fleet_.after(cell, present_)));
    }

    // The newest values in the place of a variable's front.
    void add(std::size_t u, std::size_t v, std::size_t most, std::vector<Move>& out) {
        const auto& unit = fleet_.units()[u];
        const auto variable = unit.variables[v];
        const auto before = unit.rows[unit.front][v];
        const auto& newer = fleet_.newer(variable, before);
        auto values = newer.beyond;
        values.insert(values.end(), newer.on_line.begin(), newer.on_line.end());
        std::size_t count = 0;
        for (std::size_t i = 0; i < values.size() && count < most && !fleet_.is_stopped(); ++count) {
            const auto first = i;
            while (i < values.size() && release(variable, values[i]) == release(variable, values[first]))
                ++i;
            out.push_back(move(u, v,
                               best_of({values.begin() + static_cast<std::ptrdiff_t>(first),
                                        values.begin() + static_cast<std::ptrdiff_t>(i)},
                                       u, v)));
        }
    }

  private:
    [[nodiscard]] std::string release(std::size_t variable, std::uint32_t value) const {
        const auto text = fleet_.text(variable, value);
        return text.substr(0, text.find('+'));
    }

    [[nodiscard]] upgrade::Target target(std::size_t u, std::size_t v, std::uint32_t value) const {
        return fleet_.with(present_, u, fleet_.units()[u].front, v, value);
    }

    [[nodiscard]] std::uint32_t best_of(const upgrade::Values& builds, std::size_t u, std::size_t v) {
        if (builds.size() == 1) return builds.front();
        return *std::ranges::max_element(
            builds, {}, [&](std::uint32_t build) { return fleet_.working(target(u, v, build)); });
    }

    [[nodiscard]] Move move(std::size_t u, std::size_t v, std::uint32_t value) {
        const auto& unit = fleet_.units()[u];
        const auto variable = unit.variables[v];
        Move out;
        out.field = fleet_.variable(variable).field;
        out.before = fleet_.text(variable, unit.rows[unit.front][v]);
        out.now = fleet_.text(variable, value);
        out.released = upgrade::life_of(fleet_.facts(), out.field, out.now).released;
        const auto moved = target(u, v, value);
        Reasons gained, lost;
        for (std::size_t cell = 0; cell < works_now_.size(); ++cell) {
            const bool then = works(fleet_.after(cell, moved));
            out.working += then ? 1 : 0;
            if (then && !works_now_[cell]) {
                ++out.gained;
                gained.add(fleet_, cell, present_);
            } else if (!then && works_now_[cell]) {
                ++out.lost;
                lost.add(fleet_, cell, moved);
            }
        }
        out.gained_from = std::move(gained).finish();
        out.lost_to = std::move(lost).finish();
        return out;
    }

    upgrade::Fleet& fleet_;
    upgrade::Target present_;
    std::vector<bool> works_now_;
};

}  // namespace

void sort_reasons(std::vector<Reason>& reasons) {
    std::ranges::stable_sort(reasons, std::ranges::greater(),
                             [](const Reason& reason) { return std::pair(reason.verdict, reason.cells); });
}

std::vector<Move> moves_of(upgrade::Fleet& fleet, std::size_t most) {
    std::vector<Move> out;
    Moving moving(fleet);
    for (std::size_t u = 0; u < fleet.units().size(); ++u) {
        for (std::size_t v = 0; v < fleet.units()[u].variables.size(); ++v) {
            if (upgrade::moves(fleet.variable(fleet.units()[u].variables[v]).field))
                moving.add(u, v, most, out);
        }
    }
    return out;
}

}  // namespace cudamatrix::review
