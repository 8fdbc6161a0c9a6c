#include "advise/upgrade/plans.hpp"

#include <algorithm>
#include <array>

#include "advise/upgrade/newer_values.hpp"
#include "base/text.hpp"

namespace cudamatrix::upgrade {
namespace {

constexpr std::size_t kRounds = 3;  // what one value lets another one do shows in the next round

// Where the search stands: a target, and what it may change.
class Planning {
  public:
    explicit Planning(Fleet& fleet)
        : fleet_(fleet), target_(fleet.present()), horizon_(months_later(fleet.today(), kEndsWithin)) {}

    Plan hold() {
        for (std::size_t u = 0; u < fleet_.units().size(); ++u) {
            for (std::size_t row = 0; row < target_[u].size(); ++row)
                hold_row(u, row);
        }
        return {Aim::hold, kept(), target_};
    }

    Plan next() {
        hold();
        fronts_ = target_;
        for (std::size_t round = 0; round < kRounds; ++round) {
            const auto before = target_;
            for (const auto field :
                 {Field::driver, Field::os, Field::image, Field::torch, Field::python, Field::cuda})
                each_front(field, [&](std::size_t u, std::size_t v) { move_if_none_gets_worse(u, v); });
            if (target_ == before) break;
        }
        // Where nothing works there is nothing to keep: what works is next.
        if (fleet_.working(target_) == 0) {
            target_ = fronts_;
            move_all();
        }
        return finished(Aim::next);
    }

    Plan ambitious() {
        hold();
        fronts_ = target_;
        move_all();
        return finished(Aim::ambitious);
    }

    Result<Plan> wanted(const Wanted& values) {
        fronts_ = target_;
        for (const auto& [field, text] : values) {
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
    void move_all() {
        for (const auto field : {Field::driver, Field::os})
            each_front(field, [&](std::size_t u, std::size_t v) { move_host(u, v); });
        lead();
        for (std::size_t round = 0; round < kRounds; ++round) {
            const auto before = target_;
            for (const auto field : {Field::python, Field::cuda, Field::driver, Field::os})
                each_front(field, [&](std::size_t u, std::size_t v) { move_if_none_is_lost(u, v); });
            if (target_ == before) break;
        }
    }

    template <class Visit>
    void each_front(Field field, const Visit& visit) {
        for (std::size_t u = 0; u < fleet_.units().size(); ++u) {
            for (std::size_t v = 0; v < fleet_.units()[u].variables.size(); ++v) {
                if (about(u, v).field == field) visit(u, v);
            }
        }
    }

    [[nodiscard]] const solve::Variable& about(std::size_t u, std::size_t v) const {
        return fleet_.variable(fleet_.units()[u].variables[v]);
    }
    [[nodiscard]] std::size_t front(std::size_t u) const { return fleet_.units()[u].front; }
    [[nodiscard]] std::uint32_t original(std::size_t u, std::size_t row, std::size_t v) const {
        return fleet_.units()[u].rows[row][v];
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
        return fleet_.first_worse(target) || fleet_.first_worse(without_added(target));
    }
    [[nodiscard]] std::size_t working(const Target& target) {
        return fleet_.working(target) + fleet_.working(without_added(target));
    }

    void hold_row(std::size_t u, std::size_t row) {
        for (std::size_t v = 0; v < fleet_.units()[u].variables.size(); ++v) {
            for (const auto value : fleet_.on_line(fleet_.units()[u].variables[v], original(u, row, v))) {
                const auto moved = fleet_.with(target_, u, row, v, value);
                if (is_taken(moved, u, row) || fleet_.first_worse(moved)) continue;
                target_ = moved;
                break;
            }
        }
    }

    // Newest first, what the front may become: of what machines bring the ones that last, the longest first.
    [[nodiscard]] Values choices(std::size_t u, std::size_t v) const {
        const auto variable = fleet_.units()[u].variables[v];
        auto values = fleet_.beyond(variable, original(u, front(u), v));
        const auto field = about(u, v).field;
        const auto life = [&](std::uint32_t value) {
            return life_of(fleet_.facts(), field, fleet_.text(variable, value));
        };
        // What ends soon is taken only where all do.
        for (const auto& day : {fleet_.today(), horizon_}) {
            auto lasting = values;
            std::erase_if(lasting, [&](std::uint32_t value) { return has_ended(life(value), day); });
            if (!lasting.empty()) values = std::move(lasting);
        }
        if (field == Field::driver || field == Field::os) {
            std::ranges::stable_sort(
                values, [&](std::uint32_t a, std::uint32_t b) { return life(a).ends > life(b).ends; });
        }
        return values;
    }

    [[nodiscard]] bool ends_soon(std::size_t u, std::size_t v) const {
        const auto variable = fleet_.units()[u].variables[v];
        return has_ended(
            life_of(fleet_.facts(), about(u, v).field, fleet_.text(variable, original(u, front(u), v))),
            horizon_);
    }

    // The machine stays as it is while it is repaired; what runs on it may always become newer.
    void move_if_none_gets_worse(std::size_t u, std::size_t v) {
        const auto field = about(u, v).field;
        if ((field == Field::driver || field == Field::os) && !ends_soon(u, v)) return;
        for (const auto value : choices(u, v)) {
            if (target_[u][front(u)][v] == value) return;
            const auto moved = fleet_.with(target_, u, front(u), v, value);
            if (is_taken(moved, u, front(u)) || makes_worse(moved)) continue;
            if (working(moved) < working(target_)) continue;
            target_ = moved;
            return;
        }
    }

    void move_host(std::size_t u, std::size_t v) {
        const auto values = choices(u, v);
        for (const auto value : values) {
            const auto moved = fleet_.with(target_, u, front(u), v, value);
            if (is_taken(moved, u, front(u)) || fleet_.working(moved) == 0) continue;
            target_ = moved;
            return;
        }
    }

    void move_if_none_is_lost(std::size_t u, std::size_t v) {
        const auto now = working(target_);
        for (const auto value : choices(u, v)) {
            if (target_[u][front(u)][v] == value) return;
            const auto moved = fleet_.with(target_, u, front(u), v, value);
            if (is_taken(moved, u, front(u)) || working(moved) < now) continue;
            target_ = moved;
            return;
        }
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
        const auto variable = fleet_.units()[u].variables[v];
        const auto release = [&](std::uint32_t value) {
            const auto text = fleet_.text(variable, value);
            return text.substr(0, text.find_first_of(about(u, v).field == Field::image ? "-" : "+"));
        };
        const auto values = choices(u, v);
        for (std::size_t i = 0; i < values.size();) {
            std::size_t best = 0;
            Target chosen;
            const auto first = i;
            for (; i < values.size() && release(values[i]) == release(values[first]); ++i) {
                for (const auto& moved : with_pythons(u, v, values[i])) {
                    if (fleet_.working(moved) == 0) continue;
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
        const auto moved = fleet_.with(target_, u, front(u), v, value);
        if (is_taken(moved, u, front(u))) return {};
        std::vector<Target> out{moved};
        each_front(Field::python, [&](std::size_t other, std::size_t at) {
            for (const auto python : choices(other, at)) {
                if (other != u) out.push_back(fleet_.with(moved, other, front(other), at, python));
            }
        });
        return out;
    }

    [[nodiscard]] std::vector<UnitPlan> kept() const {
        std::vector<UnitPlan> out;
        for (const auto& rows : target_)
            out.push_back({rows, std::nullopt, std::vector<bool>(rows.size(), false)});
        return out;
    }

    // Beside an axis with several rows the front is one more.
    Plan finished(Aim aim) {
        Plan plan{aim, kept(), target_};
        for (std::size_t u = 0; u < plan.units.size(); ++u) {
            const auto& unit = fleet_.units()[u];
            auto& out = plan.units[u];
            if (unit.has_several() && target_[u][unit.front] != fronts_[u][unit.front]) {
                out.added = target_[u][unit.front];
                out.rows[unit.front] = fronts_[u][unit.front];
            }
            // Who names values wants those alone.
            for (std::size_t row = 0; aim != Aim::wanted && unit.has_several() && row < out.rows.size();
                 ++row)
                out.dropped[row] =
                    (row != unit.front || out.added) && is_over(u, out.rows[row]) && !fleet_.is_kept(u, row);
        }
        return plan;
    }

    // Of what an image holds; which drivers there are is up to the hosts.
    [[nodiscard]] bool is_over(std::size_t u, const Values& row) const {
        for (std::size_t v = 0; v < row.size(); ++v) {
            if (about(u, v).field == Field::driver) continue;
            const auto text = fleet_.text(fleet_.units()[u].variables[v], row[v]);
            if (has_ended(life_of(fleet_.facts(), about(u, v).field, text), fleet_.today())) return true;
        }
        return false;
    }

    Fleet& fleet_;
    Target target_;
    Target fronts_;  ///< where hold had left them
    std::string horizon_;
};

}  // namespace

std::string_view to_string(Aim aim) {
    static constexpr std::array<std::string_view, 4> words{"hold", "next", "ambitious", "wanted"};
    return words[static_cast<std::size_t>(aim)];
}

bool operator==(const Plan& a, const Plan& b) {
    return std::ranges::equal(a.units, b.units, [](const UnitPlan& x, const UnitPlan& y) {
        return x.rows == y.rows && x.added == y.added && x.dropped == y.dropped;
    });
}

Plan plan_for(Fleet& fleet, Aim aim) {
    Planning planning(fleet);
    switch (aim) {
        case Aim::hold:
            return planning.hold();
        case Aim::next:
            return planning.next();
        case Aim::ambitious:
            return planning.ambitious();
        case Aim::wanted:
            break;  // see plan_wanted
    }
    return planning.hold();
}

Result<Plan> plan_wanted(Fleet& fleet, const Wanted& wanted) {
    return Planning(fleet).wanted(wanted);
}

}  // namespace cudamatrix::upgrade
