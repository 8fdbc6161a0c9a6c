#include "knowledge/solve/search.hpp"

#include <algorithm>
#include <numeric>

namespace cudamatrix::solve {

Domains everything(const std::vector<Variable>& variables) {
    Domains out;
    for (const auto& variable : variables) {
        auto& all = out.emplace_back(variable.values.size());
        std::iota(all.begin(), all.end(), 0u);
    }
    return out;
}

Search::Search(RuleCache& cache, Domains domains, Verdict worst, std::vector<std::size_t> order)
    : cache_(cache),
      rows_(cache.rows()),
      worst_(worst),
      domains_(std::move(domains)),
      single_(domains_.size()),
      blame_(domains_.size()) {
    start(std::move(order));
}

Search::Search(RuleCache& cache, Domains domains, Allows allows, std::vector<std::size_t> order)
    : cache_(cache),
      rows_(std::make_shared<Rows>(
          cache,
          [&cache, allows = std::move(allows)](std::size_t rule, const Assignment& asked,
                                               std::vector<RuleCache::Look>& looks) {
              // What such an answer rests on is not known.
              for (const auto variable : cache.reads(rule)) {
                  if (asked[variable] != kUnassigned) looks.push_back({variable, false});
              }
              return allows(rule, asked) ? Verdict::accepted : Verdict::rejected;
          },
          false)),
      worst_(Verdict::accepted),
      domains_(std::move(domains)),
      single_(domains_.size()),
      blame_(domains_.size()) {
    start(std::move(order));
}

void Search::start(std::vector<std::size_t> order) {
    order_ = std::move(order);
    if (order_.empty()) {
        order_.resize(domains_.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
    }
    if (const auto gpu = cache_.gpu_variable(); gpu && domains_[*gpu].size() > 1) {
        // Of GPUs that no rule tells apart the first is as good as the others.
        const auto& same = rows_->same_gpus();
        std::vector<std::uint32_t> first;
        for (const auto value : same.empty() ? std::vector<std::uint32_t>() : domains_[*gpu]) {
            const auto is_same = [&](std::uint32_t other) { return same[other] == same[value]; };
            if (std::none_of(first.begin(), first.end(), is_same)) first.push_back(value);
        }
        if (!first.empty()) domains_[*gpu] = std::move(first);
    }
    learned_of_.resize(domains_.size());
    trouble_.assign(domains_.size(), 1);
    for (std::size_t variable = 0; variable < domains_.size(); ++variable) {
        whole_.emplace_back(cache_.variables()[variable].values.size());
        narrow(variable, std::move(domains_[variable]));
    }
}

void Search::narrow(std::size_t variable, std::vector<std::uint32_t> values) {
    domains_[variable] = std::move(values);
    whole_[variable].clear();
    for (const auto value : domains_[variable])
        whole_[variable].add(value);
    single_.drop(variable);
    if (domains_[variable].size() == 1) single_.add(variable);
}

void Search::demand(std::size_t rule, Verdict worst) {
    if (demands_.empty()) demands_.assign(cache_.size(), worst_);
    demands_[rule] = std::min(demands_[rule], worst);
}

void Search::ask_only(std::vector<bool> rules) {
    rules_ = std::move(rules);
    learned_.clear();
    learned_of_.assign(domains_.size(), {});
}

std::optional<Assignment> Search::any(const OnBlamed& blamed) {
    blamed_ = blamed;
    auto found = solve({}, kNever);
    blamed_ = {};
    return found;
}

// One variable after the other: whatever comes next, it never needs a worse value of those before.
std::optional<Assignment> Search::first() {
    std::vector<std::pair<std::size_t, std::uint32_t>> fixed;
    std::optional<Assignment> best;
    for (const auto variable : order_) {
        const auto& values = domains_[variable];
        if (!best || (*best)[variable] != values.front()) {
            best = solve(fixed, variable);
            if (!best) return std::nullopt;
        }
        if (values.size() > 1) fixed.emplace_back(variable, (*best)[variable]);
    }
    return order_.empty() ? solve({}, kNever) : best;
}

std::optional<Assignment> Search::first(std::uint64_t& budget) {
    budget_ = budget;
    auto found = first();
    budget = budget_;
    return found;
}

std::optional<Assignment> Search::solve(std::vector<std::pair<std::size_t, std::uint32_t>> fixed,
                                        std::size_t goal) {
    fixed_ = std::move(fixed);
    goal_ = goal;
    const auto count = domains_.size();
    state_ = {whole_, Assignment(count, kUnassigned), std::vector<std::size_t>(count, kNever),
              std::vector<bool>(count, false), 0};
    std::vector<std::size_t> singles;
    if (!may_go_on()) return std::nullopt;
    if (!look_at_each(singles) || !propagate(std::move(singles))) {
        if (blamed_) static_cast<void>(blame_for(emptied_, whole_[emptied_]));
        return std::nullopt;
    }
    if (!walk()) return std::nullopt;
    rows_->set_found(state_.values);
    return state_.values;
}

// What is asked and known of one variable alone.
bool Search::look_at_each(std::vector<std::size_t>& singles) {
    for (std::size_t variable = 0; variable < domains_.size(); ++variable) {
        auto keep = whole_[variable];
        for (const auto check : rows_->checks_of(variable)) {
            const auto& about = rows_->checks()[check];
            if (about.variables.size() > 1) break;
            if (is_asked(about.rule))
                keep &=
                    rows_->allowed(check, variable, state_.values, whole_[variable], worst_for(about.rule));
        }
        for (const auto at : learned_of_[variable]) {
            if (learned_[at].variables.size() == 1) keep -= learned_[at].values.front().begin()->second;
        }
        if (!take_from(variable, keep, singles)) return false;
        if (domains_[variable].size() == 1) singles.push_back(variable);
    }
    return true;
}

std::size_t Search::next_variable() const {
    for (const auto& [variable, value] : fixed_) {
        if (state_.settled[variable] == kNever) return variable;
    }
    if (goal_ != kNever && state_.settled[goal_] == kNever) return goal_;
    // Few values and much trouble before: what cannot be met shows soonest.
    auto best = kNever;
    std::uint64_t best_left = 0;
    for (std::size_t variable = 0; variable < domains_.size(); ++variable) {
        if (state_.settled[variable] != kNever) continue;
        const auto left = state_.left[variable].count();
        if (best == kNever || left * trouble_[best] < best_left * trouble_[variable]) {
            best = variable;
            best_left = left;
        }
    }
    return best;
}

std::vector<std::uint32_t> Search::next_values(std::size_t variable) const {
    std::vector<std::uint32_t> out;
    for (const auto& [other, value] : fixed_) {
        if (other == variable) return {value};
    }
    for (const auto value : domains_[variable]) {
        if (state_.left[variable].has(value)) out.push_back(value);
    }
    if (variable == goal_ || rows_->found().empty()) return out;
    const auto last = std::find(out.begin(), out.end(), rows_->found()[variable]);
    if (last != out.end()) std::rotate(out.begin(), last, last + 1);
    return out;
}

bool Search::walk() {
    if (state_.count == domains_.size()) return true;
    const auto variable = next_variable();
    const auto before = state_;
    Bits blame(domains_.size());
    for (const auto value : next_values(variable)) {
        if (!may_go_on()) return false;
        const bool goes_on = choose(variable, value);
        if (goes_on && walk()) return true;
        if (!goes_on) {
            ++trouble_[emptied_];
            blame_ = blame_for(emptied_, whole_[emptied_]);
        }
        state_ = before;
        // What failed does not rest on this variable: another value of it changes nothing.
        if (!blame_.has(variable)) return false;
        blame |= blame_;
    }
    auto gone = whole_[variable];
    gone -= state_.left[variable];
    blame |= blame_for(variable, std::move(gone));
    blame.drop(variable);
    learn(blame);
    blame_ = std::move(blame);
    return false;
}

bool Search::choose(std::size_t variable, std::uint32_t value) {
    state_.chosen[variable] = true;
    state_.left[variable].clear();
    state_.left[variable].add(value);
    return propagate({variable});
}

bool Search::propagate(std::vector<std::size_t> singles) {
    for (std::size_t i = 0; i < singles.size(); ++i) {
        const auto variable = singles[i];
        if (state_.settled[variable] != kNever) continue;
        state_.settled[variable] = state_.count++;
        state_.values[variable] = static_cast<std::uint32_t>(state_.left[variable].first());
        if (!look_from(variable, singles)) return false;
    }
    return true;
}

// Asks what can be asked now that the variable is settled.
bool Search::look_from(std::size_t variable, std::vector<std::size_t>& singles) {
    for (const auto check : rows_->checks_of(variable)) {
        const auto& about = rows_->checks()[check];
        if (about.variables.size() < 2 || !is_asked(about.rule)) continue;
        const auto open = only_open(about.variables);
        if (open == kNever) continue;
        const auto& keep =
            rows_->allowed(check, open, state_.values, state_.left[open], worst_for(about.rule));
        if (!take_from(open, keep, singles)) return false;
    }
    for (const auto at : learned_of_[variable]) {
        const auto& learned = learned_[at];
        const auto open = only_open(learned.variables);
        if (open == kNever) continue;
        const auto place = static_cast<std::size_t>(
            std::find(learned.variables.begin(), learned.variables.end(), open) - learned.variables.begin());
        const auto known = learned.values[place].find(key_of(learned.variables, open));
        if (known == learned.values[place].end()) continue;
        auto keep = state_.left[open];
        keep -= known->second;
        if (!take_from(open, keep, singles)) return false;
    }
    return true;
}

bool Search::take_from(std::size_t variable, const Bits& keep, std::vector<std::size_t>& singles) {
    auto& left = state_.left[variable];
    const auto before = left.count();
    left &= keep;
    const auto after = left.count();
    if (after == 0) {
        emptied_ = variable;
        return false;
    }
    if (after == 1 && before > 1) singles.push_back(variable);
    return true;
}

// The one of the variables that is open, where the others are settled.
std::size_t Search::only_open(const std::vector<std::size_t>& variables) const {
    auto open = kNever;
    for (const auto variable : variables) {
        if (state_.settled[variable] != kNever) continue;
        if (open != kNever) return kNever;
        open = variable;
    }
    return open;
}

// Where it may not, nothing above goes on either.
bool Search::may_go_on() {
    if (budget_ != 0 && cache_.may_go_on()) {
        --budget_;
        return true;
    }
    budget_ = 0;
    blame_.clear();
    return false;
}

}  // namespace cudamatrix::solve
