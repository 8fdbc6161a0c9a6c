#include "advise/upgrade/plans.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "advise/upgrade/choices.hpp"
#include "base/text.hpp"

namespace cudamatrix::upgrade {
namespace {

constexpr std::size_t kRounds = 3;

// Where the search stands: a target, and what it may change.
class Planning : Choices {
  public:
    explicit Planning(Fleet& fleet)
        : Choices(fleet, months_later(fleet.today(), kEndsWithin)),
          fleet_(fleet),
          target_(fleet.present()),
          fronts_(target_) {}

    Plan hold() {
        hold_rows();
        return finished(Aim::hold);
    }

    Plan next() {
        hold_rows();
        move_where_none_gets_worse();
        // Where nothing works there is nothing to keep: what works is next.
        if (fleet_.working(target_) == 0) {
            target_ = fronts_;
            move_all();
            if (fleet_.working(target_) == 0) target_ = fronts_;
        }
        return finished(Aim::next);
    }

    Plan ambitious() {
        hold_rows();
        move_all();
        if (fleet_.working(target_) == 0) {
            // Where nothing works, driver and torch may have to move one after the other.
            target_ = fronts_;
            move_where_none_gets_worse();
            lead();
        }
        return finished(Aim::ambitious);
    }

    Result<Plan> wanted() {
        for (const auto& [field, text] : fleet_.wanted()) {
            const auto label = fmt::format("{}={}", info(field).name, text);
            bool is_there = false;
            each_front(field, [&, text = text](std::size_t u, std::size_t v) {
                is_there = true;
                const auto value = about(u, v).find(text);
                if (value) target_ = fleet_.with(target_, u, front(u), v, *value);
            });
            if (!is_there) {
                return input_failure(
                    fmt::format("--to {}: no axis and no value under set has the field, and rows of include "
                                "do not agree in it",
                                label),
                    "name a field that the file has in one place");
            }
        }
        for (std::size_t u = 0; u < target_.size(); ++u) {
            if (target_[u] != fronts_[u] && is_taken(target_, u, front(u)))
                return input_failure("--to: the axis has these values already", "name newer ones");
        }
        return finished(Aim::wanted);
    }

  private:
    void hold_rows() {
        for (std::size_t u = 0; u < fleet_.units().size(); ++u) {
            for (std::size_t row = 0; row < target_[u].size(); ++row) {
                for (std::size_t v = 0; v < fleet_.units()[u].variables.size(); ++v) {
                    const auto& newer = fleet_.newer(variable(u, v), original(u, row, v));
                    advance(u, row, v, newer.on_line,
                            [&](const Target& moved) { return !fleet_.makes_worse(moved); });
                }
            }
        }
        fronts_ = target_;
    }

    void move_where_none_gets_worse() {
        repeat({Field::driver, Field::os, Field::image, Field::torch, Field::python, Field::cuda},
               [&](std::size_t u, std::size_t v) { move_if_none_gets_worse(u, v); });
    }

    void move_all() {
        for (const auto field : {Field::driver, Field::os})
            each_front(field, [&](std::size_t u, std::size_t v) { move_host(u, v); });
        lead();
        repeat({Field::image, Field::python, Field::cuda, Field::driver, Field::os},
               [&](std::size_t u, std::size_t v) { move_if_none_is_lost(u, v); });
    }

    // What one value lets another one do shows in the next round.
    template <class Visit>
    void repeat(std::initializer_list<Field> fields, const Visit& visit) {
        for (std::size_t round = 0; round < kRounds; ++round) {
            const auto before = target_;
            for (const auto field : fields)
                each_front(field, visit);
            if (target_ == before) break;
        }
    }

    // An axis names each value once.
    [[nodiscard]] bool is_taken(const Target& target, std::size_t u, std::size_t row) const {
        for (std::size_t other = 0; other < target[u].size(); ++other) {
            const bool is_same =
                target[u][other] == target[u][row] || fleet_.units()[u].rows[other] == target[u][row];
            if (other != row && is_same) return true;
        }
        return false;
    }

    // Beside a row that an axis gets, those stay that it has: they meet what else moves, too.
    [[nodiscard]] Target without_added(const Target& target) const {
        auto out = target;
        for (std::size_t u = 0; u < out.size(); ++u) {
            if (fleet_.units()[u].has_several()) out[u][front(u)] = fronts_[u][front(u)];
        }
        return out;
    }
    [[nodiscard]] bool makes_worse(const Target& target) {
        return fleet_.makes_worse(target) || fleet_.makes_worse(without_added(target));
    }
    [[nodiscard]] std::size_t working(const Target& target) {
        return fleet_.working(target) + fleet_.working(without_added(target));
    }

    // The first of the values that is accepted, unless it is there already.
    template <class Accepts>
    void advance(std::size_t u, std::size_t row, std::size_t v, const Values& values,
                 const Accepts& accepts) {
        for (const auto& builds : by_release(u, v, values)) {
            // First those that go with a toolkit.
            for (const bool with_toolkit : {true, false}) {
                for (const auto value : builds) {
                    if (target_[u][row][v] == value) return;
                    for (auto& moved : steps_to(target_, u, row, v, value)) {
                        if (goes_with_toolkit(moved) != with_toolkit || is_taken(moved, u, row)) continue;
                        if (!accepts(moved)) continue;
                        target_ = std::move(moved);
                        return;
                    }
                }
            }
        }
    }

    // The machine stays as it is while it is repaired; what runs on it may always become newer.
    void move_if_none_gets_worse(std::size_t u, std::size_t v) {
        if (is_of_host(u, v) && !has_ended(life(u, v, original(u, front(u), v)), horizon())) return;
        // Hardly any candidate needs the count, which takes every cell.
        advance(u, front(u), v, choices(target_, u, v), [&](const Target& moved) {
            return !makes_worse(moved) && working(moved) >= working(target_);
        });
    }

    void move_host(std::size_t u, std::size_t v) {
        advance(u, front(u), v, choices(target_, u, v),
                [&](const Target& moved) { return fleet_.working(moved) != 0; });
    }

    void move_if_none_is_lost(std::size_t u, std::size_t v) {
        const auto now = working(target_);
        advance(u, front(u), v, choices(target_, u, v),
                [&](const Target& moved) { return working(moved) >= now; });
    }

    // The newest release of what the matrix is about with which a cell works, if need be with another python;
    // of its builds the one with most cells.
    void lead() {
        for (const auto field : {Field::torch, Field::image, Field::cuda}) {
            bool is_there = false;
            each_front(field, [&](std::size_t u, std::size_t v) {
                is_there = true;
                lead_with(u, v);
            });
            if (is_there) return;
        }
    }

    void lead_with(std::size_t u, std::size_t v) {
        for (const auto& builds : by_release(u, v, choices(target_, u, v))) {
            std::size_t best = 0;
            Target chosen;
            for (const auto build : builds) {
                for (const auto& moved : with_pythons(u, v, build)) {
                    if (!fleet_.works(moved, u, front(u))) continue;
                    if (const auto now = working(moved); now > best) {
                        best = now;
                        chosen = moved;
                    }
                    break;
                }
            }
            if (best == 0) continue;
            target_ = chosen;
            return;
        }
    }

    [[nodiscard]] std::vector<Target> with_pythons(std::size_t u, std::size_t v, std::uint32_t value) {
        std::vector<Target> out;
        for (auto& moved : steps_to(target_, u, front(u), v, value)) {
            if (is_taken(moved, u, front(u))) continue;
            out.push_back(moved);
            each_front(Field::python, [&](std::size_t other, std::size_t at) {
                for (const auto python : choices(target_, other, at)) {
                    if (other != u) out.push_back(fleet_.with(moved, other, front(other), at, python));
                }
            });
        }
        return out;
    }

    // Beside an axis with several rows the front is one more.
    Plan finished(Aim aim) {
        Plan plan{aim, {}};
        for (const auto& rows : target_)
            plan.units.push_back({rows, std::nullopt, std::vector<bool>(rows.size(), false)});
        for (std::size_t u = 0; u < plan.units.size(); ++u) {
            const auto& unit = fleet_.units()[u];
            auto& out = plan.units[u];
            if (unit.has_several() && target_[u][unit.front] != fronts_[u][unit.front]) {
                out.added = target_[u][unit.front];
                out.rows[unit.front] = fronts_[u][unit.front];
            }
            // Who holds, or names values, wants nothing else.
            if (aim == Aim::hold || aim == Aim::wanted || !unit.has_several()) continue;
            for (std::size_t row = 0; row < out.rows.size(); ++row)
                out.dropped[row] =
                    (row != unit.front || out.added) && is_over(u, out.rows[row]) && !fleet_.is_kept(u, row);
        }
        return plan;
    }

    // Of what an image holds; which drivers there are is up to the hosts.
    [[nodiscard]] bool is_over(std::size_t u, const Values& row) const {
        for (std::size_t v = 0; v < row.size(); ++v) {
            if (about(u, v).field != Field::driver && has_ended(life(u, v, row[v]), fleet_.today()))
                return true;
        }
        return false;
    }

    Fleet& fleet_;
    Target target_;
    Target fronts_;  ///< where hold had left them
};

}  // namespace

std::string_view to_string(Aim aim) {
    static constexpr std::array<std::string_view, 4> words{"hold", "next", "ambitious", "wanted"};
    return words[static_cast<std::size_t>(aim)];
}

Result<Plan> plan_for(Fleet& fleet, Aim aim) {
    for (const auto& condition : fleet.matrix().keep) {
        const bool is_met = std::ranges::any_of(fleet.judgement().cells, [&](const JudgedCell& judged) {
            return matches(condition, judged.cell);
        });
        if (is_met) continue;
        return Failure{ExitCode::bad_input,
                       {Diagnostic::error("keep matches no cell", condition.where)
                            .with_fix("name values that the file has, or delete the entry")}};
    }
    Planning planning(fleet);
    switch (aim) {
        case Aim::hold:
            return planning.hold();
        case Aim::next:
            return planning.next();
        case Aim::ambitious:
            return planning.ambitious();
        case Aim::wanted:
            break;
    }
    return planning.wanted();
}

}  // namespace cudamatrix::upgrade
