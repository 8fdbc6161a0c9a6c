// Conflicts and relaxations against brute force: every combination of a few real values is judged by the
// judge, and every set of constraints and every change of them is tried.
#include "knowledge/solve/conflict.hpp"

#include <algorithm>
#include <random>
#include <set>

#include "knowledge/solve/variable.hpp"
#include "matrix/value.hpp"
#include "unit/knowledge/solve/rows.hpp"

using namespace cudamatrix;
using namespace cudamatrix::solve;

namespace {

solve::Variable few(Field field, const std::vector<std::string>& newest_first) {
    solve::Variable variable{.field = field, .ordered = field != Field::os};
    for (const auto& text : newest_first)
        variable.values.emplace_back(std::get<Value>(value_from_text(field, text)));
    return variable;
}

solve::Variable few_releases(const std::string& package, const std::vector<std::string>& newest_first) {
    solve::Variable variable{.field = Field::packages, .package = package, .ordered = true};
    for (const auto& text : newest_first)
        variable.values.emplace_back(Value{text, {}, {}});
    variable.values.emplace_back(std::nullopt);
    return variable;
}

std::vector<solve::Variable> small_world() {
    return {few(Field::torch, {"2.8.0+cu128", "2.6.0+cu124", "2.0.1+cu118", "1.12.1+cu113"}),
            few(Field::python, {"3.13", "3.11", "3.9"}),
            few(Field::driver, {"580.65.06", "550.54.15", "525.60.13", "470.161.03"}),
            few(Field::gpu, {"RTX 5090", "H200", "T4"}),
            few(Field::os, {"debian12", "ubuntu18.04"}),
            few_releases("transformers", {"4.57.1", "4.27.4"})};
}

// All combinations, with the verdicts that the judge gives them.
class Brute {
  public:
    Brute(RuleCache& cache, const Facts& facts) : cache_(cache) {
        Assignment assignment(cache.variables().size(), 0);
        std::string text = "version: 1\ninclude:\n";
        enumerate(0, assignment, text);
        verdicts_ = verdicts_of(text, facts);
        REQUIRE(verdicts_.size() == all_.size());
    }

    [[nodiscard]] const std::vector<Assignment>& all() const { return all_; }
    [[nodiscard]] Verdict verdict(std::size_t index) const { return verdicts_[index]; }

    /// Whether a good combination has values of `domains` only.
    [[nodiscard]] bool meets(const Domains& domains) const {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (verdicts_[i] > kGoodEnough) continue;
            bool inside = true;
            for (std::size_t variable = 0; variable < domains.size(); ++variable)
                inside = inside && std::count(domains[variable].begin(), domains[variable].end(),
                                              all_[i][variable]) > 0;
            if (inside) return true;
        }
        return false;
    }

  private:
    void enumerate(std::size_t variable, Assignment& assignment, std::string& text) {
        if (variable == assignment.size()) {
            all_.push_back(assignment);
            text += "  - " + row_text(cache_.cell(assignment)) + "\n";
            return;
        }
        for (std::uint32_t value = 0; value < cache_.variables()[variable].values.size(); ++value) {
            assignment[variable] = value;
            enumerate(variable + 1, assignment, text);
        }
    }

    RuleCache& cache_;
    std::vector<Assignment> all_;
    std::vector<Verdict> verdicts_;
};

ConstraintSet set_of(unsigned bits, std::size_t count) {
    ConstraintSet out;
    for (std::size_t i = 0; i < count; ++i) {
        if ((bits >> i & 1u) != 0) out.push_back(i);
    }
    return out;
}

// Sets with `wanted` of which no smaller part has it.
template <class Wanted>
std::set<ConstraintSet> minimal_sets(std::size_t count, const Wanted& wanted) {
    std::set<ConstraintSet> out;
    for (unsigned bits = 0; bits < 1u << count; ++bits) {
        if (!wanted(bits)) continue;
        bool minimal = true;
        for (unsigned part = 0; part < bits && minimal; ++part)
            minimal = (part & bits) != part || !wanted(part);
        if (minimal) out.insert(set_of(bits, count));
    }
    return out;
}

// How far a value lies from what a constraint allows, in its direction.
std::size_t distance(const Problem& problem, const Change& change) {
    const auto& constraint = problem.constraints[change.constraint];
    const auto values =
        nearest_values(problem.cache.variables()[constraint.variable], constraint, change.newer);
    return static_cast<std::size_t>(std::find(values.begin(), values.end(), change.value) - values.begin());
}

// Whether something meets all constraints when those of the relaxation change by no more than `steps`.
bool helps(const Brute& brute, const Problem& problem, const Relaxation& relaxation,
           const std::vector<std::size_t>& steps) {
    ConstraintSet all(problem.constraints.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = i;
    auto domains = domains_of(problem, all);
    for (std::size_t i = 0; i < relaxation.changes.size(); ++i) {
        const auto& change = relaxation.changes[i];
        const auto& constraint = problem.constraints[change.constraint];
        auto values =
            nearest_values(problem.cache.variables()[constraint.variable], constraint, change.newer);
        values.resize(std::min(values.size(), steps[i] + 1));
        domains[constraint.variable] = values;
    }
    return brute.meets(domains);
}

void check_relaxations(const Brute& brute, const Problem& problem, const Conflicts& conflicts,
                       const std::set<ConstraintSet>& corrections) {
    std::set<ConstraintSet> seen;
    for (const auto& relaxation : conflicts.relaxations) {
        ConstraintSet set;
        std::vector<std::size_t> steps;
        for (const auto& change : relaxation.changes) {
            set.push_back(change.constraint);
            steps.push_back(distance(problem, change));
            CHECK(relaxation.witness[problem.constraints[change.constraint].variable] == change.value);
        }
        CHECK(corrections.count(set) == 1);
        seen.insert(set);
        CHECK(helps(brute, problem, relaxation, steps));
        // One step less in any of them, the others no further than they are, and it no longer helps.
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (steps[i] == 0) continue;
            auto fewer = steps;
            --fewer[i];
            CHECK_FALSE(helps(brute, problem, relaxation, fewer));
        }
        const auto at =
            std::find(brute.all().begin(), brute.all().end(), relaxation.witness) - brute.all().begin();
        CHECK(brute.verdict(static_cast<std::size_t>(at)) <= kGoodEnough);
    }
    if (conflicts.all_relaxations) CHECK(seen == corrections);
}

Constraint some_values(std::mt19937& random, const solve::Variable& variable, std::size_t index) {
    const auto count = variable.values.size() - (variable.package.empty() ? 0 : 1);
    const auto first = random() % count;
    const auto last = first + random() % (count - first);
    Constraint constraint{index, "some", {}, first == last};
    for (auto value = first; value <= last; ++value)
        constraint.allowed.push_back(static_cast<std::uint32_t>(value));
    return constraint;
}

}  // namespace

TEST_CASE("a search, its conflicts and its relaxations agree with brute force on random demands") {
    const auto facts = Facts::embedded();
    RuleCache cache(facts, kToday, small_world());
    const Brute brute(cache, facts);
    for (std::size_t i = 0; i < brute.all().size(); ++i)
        REQUIRE(cache.verdict(brute.all()[i]) == brute.verdict(i));

    std::mt19937 random(20261121);
    std::size_t unmet = 0, pairs = 0;
    for (int round = 0; round < 300; ++round) {
        Problem problem{cache, {}};
        for (std::size_t variable = 0; variable < cache.variables().size(); ++variable) {
            if (random() % 4 != 0)
                problem.constraints.push_back(some_values(random, cache.variables()[variable], variable));
        }
        const auto count = problem.constraints.size();
        const auto whole = set_of((1u << count) - 1, count);
        const auto domains = domains_of(problem, whole);
        const auto found = Search(cache, domains, kGoodEnough).first();
        REQUIRE(found.has_value() == brute.meets(domains));
        if (found) {
            // The first in the order of the values.
            const auto best = std::find(brute.all().begin(), brute.all().end(), *found) - brute.all().begin();
            for (std::size_t i = 0; i < static_cast<std::size_t>(best); ++i) {
                bool inside = brute.verdict(i) <= kGoodEnough;
                for (std::size_t variable = 0; variable < domains.size(); ++variable)
                    inside = inside && std::count(domains[variable].begin(), domains[variable].end(),
                                                  brute.all()[i][variable]) > 0;
                CHECK_FALSE(inside);
            }
            continue;
        }
        ++unmet;
        const auto meets = [&](unsigned bits) {
            return brute.meets(domains_of(problem, set_of(bits, count)));
        };
        const auto unmet_sets = minimal_sets(count, [&](unsigned bits) { return !meets(bits); });
        const auto corrections =
            minimal_sets(count, [&](unsigned bits) { return meets(((1u << count) - 1) & ~bits); });
        const auto conflicts = conflicts_of(problem);
        std::set<ConstraintSet> sets;
        for (const auto& conflict : conflicts.sets) {
            sets.insert(conflict.constraints);
            CHECK_FALSE(conflict.evidence.empty());
            for (const auto& evidence : conflict.evidence)
                CHECK(evidence.example.verdict() > kGoodEnough);
        }
        CHECK(sets.size() == conflicts.sets.size());
        if (conflicts.all_sets) CHECK(sets == unmet_sets);
        CHECK(conflicts.all_sets == (unmet_sets.size() <= kMostConflicts));
        CHECK(std::includes(unmet_sets.begin(), unmet_sets.end(), sets.begin(), sets.end()));
        check_relaxations(brute, problem, conflicts, corrections);
        pairs +=
            static_cast<std::size_t>(std::count_if(conflicts.relaxations.begin(), conflicts.relaxations.end(),
                                                   [](const Relaxation& r) { return r.changes.size() > 1; }));
    }
    CHECK(unmet >= 50);  // so that the comparison is one
    CHECK(pairs >= 10);
}

TEST_CASE("the values nearest to a demand: newer ones upwards, the others downwards") {
    const auto variable = few(Field::driver, {"580.65.06", "550.54.15", "525.60.13", "470.161.03"});
    const Constraint one{0, "550.54.15", {1}, true};
    CHECK(nearest_values(variable, one, true) == std::vector<std::uint32_t>{0});
    CHECK(nearest_values(variable, one, false) == std::vector<std::uint32_t>{2, 3});
    const Constraint newest{0, ">=550", {0, 1}, false};
    CHECK(nearest_values(variable, newest, true).empty());
    const Constraint oldest{0, "<500", {3}, false};
    CHECK(nearest_values(variable, oldest, true) == std::vector<std::uint32_t>{2, 1, 0});
    CHECK(nearest_values(variable, oldest, false).empty());
    // Names have no order: everything else is as near.
    const auto systems = few(Field::os, {"debian12", "ubuntu18.04"});
    CHECK(nearest_values(systems, {0, "ubuntu18.04", {1}, true}, true).empty());
    CHECK(nearest_values(systems, {0, "ubuntu18.04", {1}, true}, false) == std::vector<std::uint32_t>{0});
}
