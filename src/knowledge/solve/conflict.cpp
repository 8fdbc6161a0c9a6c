#include "knowledge/solve/conflict.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace cudamatrix::solve {
namespace {

bool holds_all(const ConstraintSet& whole, const ConstraintSet& part) {
    return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

ConstraintSet without(std::size_t count, const ConstraintSet& left_out) {
    ConstraintSet out;
    for (std::size_t i = 0; i < count; ++i) {
        if (!std::binary_search(left_out.begin(), left_out.end(), i)) out.push_back(i);
    }
    return out;
}

// Calls `visit` for every set of `size` of `count` constraints until it says stop.
template <class Visit>
void for_each_set(std::size_t count, std::size_t size, const Visit& visit) {
    ConstraintSet set(size);
    std::iota(set.begin(), set.end(), std::size_t{0});
    while (visit(static_cast<const ConstraintSet&>(set))) {
        std::size_t i = size;
        while (i > 0 && set[i - 1] == count - size + i - 1)
            --i;
        if (i == 0) return;
        ++set[i - 1];
        for (; i < size; ++i)
            set[i] = set[i - 1] + 1;
    }
}

// The variables with fewest values first: what cannot be met shows soonest.
bool can_be_met(RuleCache& cache, const Domains& domains) {
    std::vector<std::size_t> order(domains.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return domains[a].size() < domains[b].size(); });
    return Search(cache, domains, kGoodEnough, std::move(order)).first().has_value();
}

// Whether sets of constraints can be met. Fewer constraints are never harder: answers are passed on to parts
// and wholes.
class Satisfiable {
  public:
    explicit Satisfiable(const Problem& problem) : problem_(problem) {}

    bool operator()(const ConstraintSet& set) {
        const auto whole = [&](const ConstraintSet& known) { return holds_all(known, set); };
        const auto part = [&](const ConstraintSet& known) { return holds_all(set, known); };
        if (std::any_of(met_.begin(), met_.end(), whole)) return true;
        if (std::any_of(unmet_.begin(), unmet_.end(), part)) return false;
        const bool met = can_be_met(problem_.cache, domains_of(problem_, set));
        (met ? met_ : unmet_).push_back(set);
        return met;
    }

  private:
    const Problem& problem_;
    std::vector<ConstraintSet> met_, unmet_;
};

bool is_constrained(const Problem& problem, const ConstraintSet& constraints, std::size_t variable) {
    return std::any_of(constraints.begin(), constraints.end(), [&](std::size_t constraint) {
        return problem.constraints[constraint].variable == variable;
    });
}

// The constrained variables first, those with fewest values before the others: a proof should speak of what
// was asked.
std::vector<std::size_t> order_of_proof(const Problem& problem, const Domains& domains,
                                        const ConstraintSet& constraints) {
    std::vector<std::size_t> order(domains.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const bool x = is_constrained(problem, constraints, a), y = is_constrained(problem, constraints, b);
        if (x != y) return x;
        return domains[a].size() < domains[b].size();
    });
    return order;
}

void add_facts(std::vector<FactRef>& facts, const Finding& finding) {
    for (const auto& fact : finding.facts) {
        if (std::none_of(facts.begin(), facts.end(),
                         [&](const FactRef& known) { return known.id == fact.id; }))
            facts.push_back(fact);
    }
}

// The worst of what a rule says.
const Finding* worst_of(const rules::Findings& findings) {
    const auto worst =
        std::max_element(findings.begin(), findings.end(),
                         [](const Finding& a, const Finding& b) { return a.verdict() < b.verdict(); });
    return worst == findings.end() ? nullptr : &*worst;
}

// Fields that are not part of the conflict are left away where it shows without them: a proof over every GPU
// says no more than one that names none.
Domains domains_of_proof(const Problem& problem, const ConstraintSet& constraints) {
    auto whole = domains_of(problem, constraints);
    auto fewer = whole;
    for (std::size_t variable = 0; variable < fewer.size(); ++variable) {
        const auto& values = problem.cache.variables()[variable].values;
        if (!is_constrained(problem, constraints, variable) && !values.back())
            fewer[variable] = {static_cast<std::uint32_t>(values.size() - 1)};
    }
    return can_be_met(problem.cache, fewer) ? whole : fewer;
}

// How many of the constrained variables a rule reads: one that reads them all says why they conflict.
std::size_t reach(const Problem& problem, const ConstraintSet& constraints, std::size_t rule) {
    const auto& reads = problem.cache.reads(rule);
    return static_cast<std::size_t>(std::count_if(reads.begin(), reads.end(), [&](std::size_t variable) {
        return is_constrained(problem, constraints, variable);
    }));
}

std::vector<Evidence> prove(const Problem& problem, const ConstraintSet& constraints) {
    std::map<std::size_t, Evidence> by_rule;
    auto domains = domains_of_proof(problem, constraints);
    auto order = order_of_proof(problem, domains, constraints);
    Search search(problem.cache, std::move(domains), kGoodEnough, std::move(order));
    const auto found = search.first([&](std::size_t rule, const Assignment& assignment) {
        auto& evidence = by_rule[rule];
        evidence.rule = rule;
        const auto findings = problem.cache.findings(rule, assignment);
        const auto* worst = worst_of(findings);
        if (worst != nullptr && evidence.closed == 0) evidence.example = *worst;
        if (worst != nullptr) add_facts(evidence.facts, *worst);
        ++evidence.closed;
    });
    std::vector<Evidence> out;
    if (found) return out;
    for (auto& [rule, evidence] : by_rule)
        out.push_back(std::move(evidence));
    std::stable_sort(out.begin(), out.end(), [&](const Evidence& a, const Evidence& b) {
        const auto x = reach(problem, constraints, a.rule), y = reach(problem, constraints, b.rule);
        return x != y ? x > y : a.closed > b.closed;
    });
    return out;
}

void find_conflicts(const Problem& problem, Satisfiable& can_meet, Conflicts& out) {
    std::vector<ConstraintSet> found;
    for (std::size_t size = 0; size <= problem.constraints.size() && out.all_sets; ++size) {
        for_each_set(problem.constraints.size(), size, [&](const ConstraintSet& set) {
            if (std::any_of(found.begin(), found.end(),
                            [&](const ConstraintSet& smaller) { return holds_all(set, smaller); }))
                return true;
            if (can_meet(set)) return true;
            if (found.size() == kMostConflicts) return out.all_sets = false;
            found.push_back(set);
            return true;
        });
    }
    for (auto& set : found) {
        auto evidence = prove(problem, set);
        out.sets.push_back({std::move(set), std::move(evidence)});
    }
}

// The smallest changes of the constraints in `set`, each in its direction, found one constraint after the
// other.
class Relaxing {
  public:
    Relaxing(const Problem& problem, const ConstraintSet& set, const std::vector<bool>& newer)
        : problem_(problem),
          set_(set),
          newer_(newer),
          domains_(domains_of(problem, without(problem.constraints.size(), set))) {
        for (std::size_t i = 0; i < set.size(); ++i) {
            const auto& constraint = problem.constraints[set[i]];
            values_.push_back(
                nearest_values(problem.cache.variables()[constraint.variable], constraint, newer[i]));
            domains_[constraint.variable] = values_.back();
        }
        // A release that was yanked is no way out where there is another.
        auto kept = without_yanked(problem.cache.variables(), domains_);
        if (kept != domains_ && meets(kept)) domains_ = std::move(kept);
    }

    /// The constraint that stands first in `order` changes least, then the next; nothing where no change
    /// helps.
    std::optional<Relaxation> smallest(const std::vector<std::size_t>& order) const {
        auto domains = domains_;
        if (std::any_of(values_.begin(), values_.end(), [](const auto& list) { return list.empty(); }))
            return std::nullopt;
        if (!meets(domains)) return std::nullopt;
        for (const auto i : order) {
            auto& domain = domains[problem_.constraints[set_[i]].variable];
            for (const auto value : std::exchange(domain, {})) {
                domain = {value};
                if (meets(domains)) break;
            }
        }
        Relaxation out;
        auto witness = Search(problem_.cache, domains, kGoodEnough).first();
        if (!witness) return std::nullopt;  // the search was stopped
        out.witness = *std::move(witness);
        if (auto better = Search(problem_.cache, domains, Verdict::accepted).first()) out.witness = *better;
        for (std::size_t i = 0; i < set_.size(); ++i)
            out.changes.push_back({set_[i], out.witness[problem_.constraints[set_[i]].variable], newer_[i]});
        return out;
    }

  private:
    bool meets(const Domains& domains) const { return can_be_met(problem_.cache, domains); }

    const Problem& problem_;
    const ConstraintSet& set_;
    const std::vector<bool>& newer_;
    Domains domains_;
    std::vector<std::vector<std::uint32_t>> values_;
};

bool is_same(const Relaxation& a, const Relaxation& b) {
    return std::equal(
        a.changes.begin(), a.changes.end(), b.changes.begin(), b.changes.end(),
        [](const Change& x, const Change& y) { return x.constraint == y.constraint && x.value == y.value; });
}

// Every direction of every constraint; each of them is once the one that changes least.
void relax(const Problem& problem, const ConstraintSet& set, Conflicts& out) {
    for (std::uint32_t directions = 0; directions < (1u << set.size()); ++directions) {
        std::vector<bool> newer(set.size());
        for (std::size_t i = 0; i < set.size(); ++i)
            newer[i] = (directions >> i & 1u) == 0;
        const Relaxing relaxing(problem, set, newer);
        std::vector<std::size_t> order(set.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (std::size_t first = 0; first < set.size(); ++first) {
            auto found = relaxing.smallest(order);
            std::rotate(order.begin(), order.begin() + 1, order.end());
            if (!found) break;
            if (std::any_of(out.relaxations.begin(), out.relaxations.end(),
                            [&](const Relaxation& known) { return is_same(known, *found); }))
                continue;
            if (out.relaxations.size() == kMostRelaxations) {
                out.all_relaxations = false;
                return;
            }
            out.relaxations.push_back(*std::move(found));
        }
    }
}

// By the smallest sets of constraints without which the others can be met.
void find_relaxations(const Problem& problem, Satisfiable& can_meet, Conflicts& out) {
    const auto count = problem.constraints.size();
    std::vector<ConstraintSet> found;
    for (std::size_t size = 1; size <= count && out.all_relaxations; ++size) {
        for_each_set(count, size, [&](const ConstraintSet& set) {
            if (std::any_of(found.begin(), found.end(),
                            [&](const ConstraintSet& smaller) { return holds_all(set, smaller); }))
                return true;
            if (!can_meet(without(count, set))) return true;
            found.push_back(set);
            relax(problem, set, out);
            return out.all_relaxations;
        });
    }
}

}  // namespace

Domains domains_of(const Problem& problem, const ConstraintSet& kept) {
    auto domains = everything(problem.cache.variables());
    for (std::size_t i = 0; i < domains.size(); ++i) {
        // Only a package may be done without: a stack without a GPU is no answer to one that has another.
        const auto& variable = problem.cache.variables()[i];
        if (variable.package.empty())
            std::erase_if(domains[i], [&](std::uint32_t v) { return !variable.values[v]; });
    }
    for (const auto index : kept) {
        const auto& constraint = problem.constraints[index];
        domains[constraint.variable] = constraint.allowed;
    }
    return domains;
}

std::vector<std::uint32_t> nearest_values(const Variable& variable, const Constraint& constraint,
                                          bool newer) {
    std::vector<std::uint32_t> out;
    const auto newest = constraint.allowed.empty() ? 0u : constraint.allowed.front();
    if (newer && !variable.ordered) return out;
    for (std::uint32_t value = 0; value < variable.values.size(); ++value) {
        if (!variable.values[value] && variable.package.empty()) continue;
        const bool is_newer = variable.ordered && value < newest;
        if (is_newer == newer &&
            !std::binary_search(constraint.allowed.begin(), constraint.allowed.end(), value))
            out.push_back(value);
    }
    // The newest value has the smallest index.
    if (newer) std::reverse(out.begin(), out.end());
    return out;
}

Conflicts conflicts_of(const Problem& problem) {
    Conflicts out;
    Satisfiable can_meet(problem);
    find_conflicts(problem, can_meet, out);
    find_relaxations(problem, can_meet, out);
    return out;
}

}  // namespace cudamatrix::solve
