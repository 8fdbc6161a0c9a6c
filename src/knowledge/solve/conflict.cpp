#include "knowledge/solve/conflict.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace cudamatrix::solve {
namespace {

// Branches of a proof whose facts are listed.
constexpr std::uint64_t kMostTold = 2'000;

// Values that are tried to decide one set of constraints, all sets, and all changes. Of a driver alone, say,
// that nothing runs on it may take a walk over every GPU, toolkit and torch.
constexpr std::uint64_t kMostTriedForSet = 3'000;
constexpr std::uint64_t kMostTriedForPair = 100;
constexpr std::uint64_t kMostTriedForSets = 20'000;
constexpr std::uint64_t kMostTriedForChanges = 6'000;

// Values that are tried to show a conflict without one of the rules of its proof.
constexpr std::uint64_t kMostTriedForRule = 4'000;

bool can_be_met(RuleCache& cache, const Domains& domains) {
    return Search(cache, domains, kGoodEnough).any().has_value();
}

// Every smallest set of constraints that nothing meets, and every smallest set without which the others can
// be met: from the largest set of which nothing is known yet down to a smallest unmet part of it, or up to a
// largest set that is met (MARCO, Liffiton et al. 2016).
class Sets {
  public:
    explicit Sets(const Problem& problem)
        : problem_(problem),
          whole_((1u << problem.constraints.size()) - 1),
          known_(std::size_t{1} << problem.constraints.size(), false) {}

    void find() {
        for (unsigned set = whole_;; --set) {
            largest_.push_back(set);
            if (set == 0) break;
        }
        std::stable_sort(largest_.begin(), largest_.end(), [](unsigned a, unsigned b) {
            return __builtin_popcount(a) > __builtin_popcount(b);
        });
        // Most conflicts are of one or two and show at once: what holds them need not be looked at.
        for (auto set = largest_.rbegin(); set != largest_.rend() && __builtin_popcount(*set) <= 2; ++set) {
            if (!known_[*set] && is_met(*set, kMostTriedForPair) == false) add_unmet(*set);
        }
        all = true;
        for (const auto set : largest_) {
            if (budget_ == 0) break;
            if (known_[set]) continue;
            const auto met = is_met(set);
            if (!met) continue;
            if (*met) {
                grow(set);
            } else {
                shrink(set);
            }
        }
        sort(unmet);
        sort(without);
    }

    std::vector<ConstraintSet> unmet;    ///< small ones first
    std::vector<ConstraintSet> without;  ///< in the same way
    bool all = true;                     ///< false: there may be more, or smaller ones

  private:
    // Nothing where that does not show within the budget.
    [[nodiscard]] std::optional<bool> is_met(unsigned set, std::uint64_t most = kMostTriedForSet) {
        const auto budget = std::min(budget_, most);
        Search search(problem_.cache, domains_of(problem_, members(set)), kGoodEnough);
        search.set_budget(budget);
        const bool found = search.any().has_value();
        budget_ -= budget - search.budget();
        if (found || search.budget() != 0) return found;
        all = false;
        return std::nullopt;
    }

    // Each member is left out and the rest judged again.
    void shrink(unsigned set) {
        for (unsigned member = whole_ + 1; member >>= 1;) {
            if ((set & member) != 0 && !known_[set & ~member] && is_met(set & ~member) == false)
                set &= ~member;
        }
        // The first is told even if it is not the smallest.
        if (budget_ == 0 && !unmet.empty()) return;
        add_unmet(set);
    }

    void add_unmet(unsigned set) {
        const auto smallest = members(set);
        std::erase_if(unmet, [&](const ConstraintSet& known) {
            return std::includes(known.begin(), known.end(), smallest.begin(), smallest.end());
        });
        unmet.push_back(smallest);
        for (unsigned other = 0; other <= whole_; ++other) {
            if ((other & set) == set) known_[other] = true;
        }
    }

    void grow(unsigned set) {
        for (unsigned member = 1; member <= whole_; member <<= 1) {
            if ((set & member) == 0 && !known_[set | member] && is_met(set | member) == true) set |= member;
        }
        if (budget_ == 0) return;
        without.push_back(members(whole_ & ~set));
        for (unsigned other = 0; other <= whole_; ++other) {
            if ((other & set) == other) known_[other] = true;
        }
    }

    [[nodiscard]] static ConstraintSet members(unsigned set) {
        ConstraintSet out;
        for (std::size_t i = 0; set >> i != 0; ++i) {
            if ((set >> i & 1u) != 0) out.push_back(i);
        }
        return out;
    }

    static void sort(std::vector<ConstraintSet>& sets) {
        std::sort(sets.begin(), sets.end(), [](const ConstraintSet& a, const ConstraintSet& b) {
            return a.size() != b.size() ? a.size() < b.size() : a < b;
        });
    }

    const Problem& problem_;
    unsigned whole_;
    std::uint64_t budget_ = kMostTriedForSets;
    std::vector<bool> known_;
    std::vector<unsigned> largest_;
};

bool is_constrained(const Problem& problem, const ConstraintSet& constraints, std::size_t variable) {
    return std::any_of(constraints.begin(), constraints.end(), [&](std::size_t constraint) {
        return problem.constraints[constraint].variable == variable;
    });
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

// The fewest rules that show it: one alone where there is such a one, or else those of some proof without
// which it would not show.
std::vector<bool> rules_of_proof(const Problem& problem, const ConstraintSet& constraints, Search& search) {
    const std::vector<bool> none(problem.cache.size(), false);
    const auto shows = [&](const std::vector<bool>& rules) {
        search.ask_only(rules);
        return !search.any();
    };
    auto rules = none;
    static_cast<void>(search.any([&](std::size_t rule, const Assignment&) { rules[rule] = true; }));
    for (std::size_t rule = 0; rule < none.size(); ++rule) {
        // The constraints are a smallest set: what one rule says of it, it says of all of them.
        if (reach(problem, constraints, rule) != constraints.size()) continue;
        auto alone = none;
        alone[rule] = true;
        if (shows(alone)) return alone;
    }
    for (std::size_t rule = none.size(); rule-- > 0;) {
        if (!rules[rule]) continue;
        rules[rule] = false;
        search.set_budget(kMostTriedForRule);
        // Where that does not show soon, the rule stays: it is part of a proof that was found.
        if (!shows(rules) || search.budget() == 0) rules[rule] = true;
    }
    search.set_budget(std::numeric_limits<std::uint64_t>::max());
    return rules;
}

std::vector<Evidence> prove(const Problem& problem, const ConstraintSet& constraints) {
    std::map<std::size_t, Evidence> by_rule;
    Search search(problem.cache, domains_of_proof(problem, constraints), kGoodEnough);
    search.ask_only(rules_of_proof(problem, constraints, search));
    const auto found = search.any([&](std::size_t rule, const Assignment& assignment) {
        auto& evidence = by_rule[rule];
        evidence.rule = rule;
        if (++evidence.closed > kMostTold) return;
        const auto findings = problem.cache.findings(rule, assignment);
        const auto* worst = worst_of(findings);
        if (worst == nullptr) return;
        if (evidence.closed == 1) evidence.example = *worst;
        add_facts(evidence.facts, *worst);
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

Conflicts conflicts_of(const Problem& problem) {
    Conflicts out;
    Sets sets(problem);
    sets.find();
    out.all_sets = sets.all && sets.unmet.size() <= kMostConflicts;
    for (auto& set : sets.unmet) {
        if (out.sets.size() == kMostConflicts) break;
        auto evidence = prove(problem, set);
        out.sets.push_back({std::move(set), std::move(evidence)});
    }
    std::stable_sort(out.sets.begin(), out.sets.end(), [](const Conflict& a, const Conflict& b) {
        return a.evidence.size() == 1 && b.evidence.size() != 1;
    });
    // Of as many changes those that leave the machine and the work as they are come first.
    const auto given = [&](const ConstraintSet& set) {
        return std::count_if(set.begin(), set.end(), [&](std::size_t constraint) {
            return is_given(problem.cache.variables()[problem.constraints[constraint].variable].field);
        });
    };
    std::stable_sort(sets.without.begin(), sets.without.end(),
                     [&](const ConstraintSet& a, const ConstraintSet& b) {
                         return a.size() != b.size() ? a.size() < b.size() : given(a) < given(b);
                     });
    auto budget = kMostTriedForChanges;
    for (const auto& set : sets.without) {
        if (out.all_relaxations) relax(problem, set, budget, out);
    }
    out.all_relaxations = out.all_relaxations && sets.all;
    return out;
}

}  // namespace cudamatrix::solve
