// Which choices are to blame for what a search found impossible.
#include <algorithm>
#include <iterator>
#include <utility>

#include "knowledge/solve/search.hpp"

namespace cudamatrix::solve {

// The choices that together took these values from the variable. What was implied is traced to what implied
// it, the last first.
Bits Search::blame_for(std::size_t variable, Bits values) {
    auto blame = reason_for(variable, std::move(values), kNever);
    for (;;) {
        auto implied = kNever;
        blame.for_each([&](std::size_t other) {
            if (!state_.chosen[other] &&
                (implied == kNever || state_.settled[other] > state_.settled[implied]))
                implied = other;
        });
        if (implied == kNever) return blame;
        blame.drop(implied);
        auto others = whole_[implied];
        others.drop(state_.values[implied]);
        blame |= reason_for(implied, std::move(others), state_.settled[implied]);
    }
}

// Few variables, settled before that moment, that together speak against all of the values.
Bits Search::reason_for(std::size_t variable, Bits values, std::size_t before) {
    Bits out(domains_.size());
    std::vector<Reason> reasons;
    add_reasons(variable, values, before, reasons);
    while (!values.none()) {
        const Reason* best = nullptr;
        std::size_t best_gain = 0, best_cost = 1;
        for (const auto& reason : reasons) {
            auto gain = reason.values;
            gain &= values;
            auto cost = reason.others;
            cost -= out;
            const auto g = gain.count(), c = cost.count() + 1;
            if (g * best_cost > best_gain * c) {
                best = &reason;
                best_gain = g;
                best_cost = c;
            }
        }
        if (best == nullptr) break;  // nothing but what is so at the start
        if (blamed_ && best->check != kNever) tell(*best, variable, values);
        values -= best->values;
        out |= best->others;
    }
    return out;
}

void Search::add_reasons(std::size_t variable, const Bits& values, std::size_t before,
                         std::vector<Reason>& out) {
    if (values.none()) return;
    auto open = values;
    std::size_t size = 0;
    for (const auto at : learned_of_[variable]) {
        const auto& learned = learned_[at];
        if (!all_before(learned.variables, variable, before)) continue;
        const auto place =
            static_cast<std::size_t>(std::find(learned.variables.begin(), learned.variables.end(), variable) -
                                     learned.variables.begin());
        const auto known = learned.values[place].find(key_of(learned.variables, variable));
        if (known == learned.values[place].end()) continue;
        open -= known->second;
        out.push_back({known->second, Bits(domains_.size()), kNever});
        for (const auto other : learned.variables) {
            if (other != variable) out.back().others.add(other);
        }
    }
    for (const auto check : rows_->checks_of(variable)) {
        const auto& about = rows_->checks()[check];
        if (!is_asked(about.rule)) continue;
        if (!all_before(about.variables, variable, before)) continue;
        // What rests on few variables is the better reason: where that is enough, no more is asked.
        if (about.variables.size() != size && open.none()) break;
        size = about.variables.size();
        auto against = values;
        against -= rows_->allowed(check, variable, state_.values, values, worst_for(about.rule));
        const auto first = out.size();
        open -= against;
        against.for_each([&](std::size_t value) { add_reason(check, variable, value, first, out); });
    }
}

// Values against which the same variables speak make one reason, behind `first`.
void Search::add_reason(std::size_t check, std::size_t variable, std::size_t value, std::size_t first,
                        std::vector<Reason>& out) {
    Bits others(domains_.size());
    rows_->add_looks(check, variable, static_cast<std::uint32_t>(value), state_.values, others);
    others -= single_;
    auto same = std::find_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                             [&](const Reason& reason) { return reason.others == others; });
    if (same == out.end())
        same = out.insert(out.end(), {Bits(whole_[variable].room()), std::move(others), check});
    same->values.add(value);
}

void Search::tell(const Reason& reason, std::size_t variable, const Bits& values) const {
    const auto& check = rows_->checks()[reason.check];
    Assignment asked(domains_.size(), kUnassigned);
    for (const auto other : check.variables)
        asked[other] = state_.values[other];
    auto against = reason.values;
    against &= values;
    against.for_each([&](std::size_t value) {
        asked[variable] = static_cast<std::uint32_t>(value);
        blamed_(check.rule, asked);
    });
}

bool Search::all_before(const std::vector<std::size_t>& variables, std::size_t variable,
                        std::size_t before) const {
    return std::all_of(variables.begin(), variables.end(), [&](std::size_t other) {
        return other == variable || (state_.settled[other] != kNever && state_.settled[other] < before);
    });
}

// That these values of these variables fit no others.
void Search::learn(const Bits& blame) {
    std::vector<std::size_t> variables;
    blame.for_each([&](std::size_t variable) {
        variables.push_back(variable);
        ++trouble_[variable];
    });
    if (variables.empty()) return;
    auto here = std::find_if(learned_.begin(), learned_.end(),
                             [&](const Learned& learned) { return learned.variables == variables; });
    if (here == learned_.end()) {
        for (const auto variable : variables)
            learned_of_[variable].push_back(learned_.size());
        learned_.emplace_back().variables = variables;
        learned_.back().values.resize(variables.size());
        here = std::prev(learned_.end());
    }
    for (std::size_t i = 0; i < variables.size(); ++i) {
        const auto key = key_of(variables, variables[i]);
        auto known = here->values[i].find(key);
        if (known == here->values[i].end())
            known = here->values[i].emplace(key, Bits(cache_.variables()[variables[i]].values.size())).first;
        known->second.add(state_.values[variables[i]]);
    }
}

std::u32string Search::key_of(const std::vector<std::size_t>& variables, std::size_t without) const {
    std::u32string key;
    for (const auto variable : variables) {
        if (variable != without) key.push_back(static_cast<char32_t>(state_.values[variable]));
    }
    return key;
}

}  // namespace cudamatrix::solve
