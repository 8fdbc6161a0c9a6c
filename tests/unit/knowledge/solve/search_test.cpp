// The walk that leaves branches and jumps back, against one that tries every combination; and what it takes
// for granted of rules whose fields add up.
#include "knowledge/solve/search.hpp"

#include <doctest/doctest.h>
#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "base/text.hpp"
#include "knowledge/rules/rule.hpp"
#include "knowledge/solve/conflict.hpp"
#include "unit/knowledge/solve/rows.hpp"

using namespace cudamatrix;
using namespace cudamatrix::solve;

namespace {

constexpr std::array kPackages{"vllm",       "flash-attn",       "xformers",    "transformers",
                               "numpy",      "torchvision",      "triton",      "bitsandbytes",
                               "torchaudio", "nvidia-cuda-nvcc", "nvidia-nvvm", "peft"};

const Facts& all_facts() {
    static const auto facts = Facts::embedded();
    return facts;
}

solve::Variable releases(const std::string& package) {
    auto variable = variable_of_package(all_facts(), package);
    variable.values.emplace_back(std::nullopt);
    return variable;
}

solve::Variable known(Field field) {
    auto variable = variable_of(all_facts(), field);
    variable.values.emplace_back(std::nullopt);
    return variable;
}

std::vector<solve::Variable> world(const std::vector<std::string>& packages,
                                   std::optional<solve::Variable> more = {}) {
    std::vector<solve::Variable> variables{known(Field::torch), known(Field::python)};
    if (more) variables.push_back(*std::move(more));
    for (const auto& package : packages)
        variables.push_back(releases(package));
    variables.push_back(known(Field::driver));
    variables.push_back(known(Field::gpu));
    return variables;
}

std::uint32_t any_of(std::mt19937& random, std::size_t count) {
    return std::uniform_int_distribution<std::uint32_t>(0, static_cast<std::uint32_t>(count - 1))(random);
}

std::vector<std::string> any_packages(std::mt19937& random, std::size_t count) {
    std::vector<std::string> names(kPackages.begin(), kPackages.end());
    std::shuffle(names.begin(), names.end(), random);
    names.resize(count);
    return names;
}

// A few values of each variable; of packages one that is not named, too.
Domains some_of(std::mt19937& random, const std::vector<solve::Variable>& variables) {
    Domains domains;
    for (const auto& variable : variables) {
        std::set<std::uint32_t> some;
        if (!variable.package.empty()) some.insert(*variable.nothing());
        for (int i = 0; i < 2; ++i)
            some.insert(any_of(random, variable.values.size()));
        // Most GPUs are in hosts of any kind: one that is not answers otherwise where no arch is named.
        if (variable.field == Field::gpu) some.insert(*variable.find("GB200"));
        domains.emplace_back(some.begin(), some.end());
    }
    return domains;
}

// Every combination in the order of the domains, the first variable the slowest.
std::optional<Assignment> first_of_all(RuleCache& cache, const Domains& domains, Verdict worst) {
    std::vector<std::size_t> at(domains.size(), 0);
    for (;;) {
        Assignment assignment;
        for (std::size_t i = 0; i < at.size(); ++i)
            assignment.push_back(domains[i][at[i]]);
        if (cache.verdict(assignment) <= worst) return assignment;
        std::size_t variable = at.size();
        while (variable > 0 && ++at[variable - 1] == domains[variable - 1].size())
            at[--variable] = 0;
        if (variable == 0) return std::nullopt;
    }
}

// f(cache, rule, assignment) for each rule of random cells.
template <typename F>
void for_random_cells(unsigned seed, F f) {
    std::mt19937 random(seed);
    for (int round = 0; round < 30; ++round) {
        RuleCache cache(all_facts(), solve::kToday, world(any_packages(random, 4), known(Field::cuda)));
        for (int cell = 0; cell < 20; ++cell) {
            Assignment all;
            for (const auto& variable : cache.variables())
                all.push_back(any_of(random, variable.values.size()));
            for (std::size_t rule = 0; rule < cache.size(); ++rule)
                f(cache, rule, all);
        }
    }
}

std::vector<std::size_t> variables_of(const RuleCache& cache, FieldSet fields) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < cache.variables().size(); ++i) {
        if (fields.contains(cache.variables()[i].field)) out.push_back(i);
    }
    return out;
}

}  // namespace

TEST_CASE("a rule never grows milder when one more of the fields that add up is named") {
    std::set<std::string_view> asked;
    for_random_cells(1, [&](RuleCache& cache, std::size_t rule, const Assignment& all) {
        const auto whole = cache.verdict(rule, all);
        for (const auto variable : variables_of(cache, cache.rule(rule).monotone)) {
            auto fewer = all;
            fewer[variable] = kUnassigned;
            const auto part = cache.verdict(rule, fewer);
            CHECK_MESSAGE(part <= whole, cache.rule(rule).id, " without ",
                          cache.variables()[variable].name());
            if (part != whole) asked.insert(cache.rule(rule).id);
        }
    });
    // Each of them was seen to grow stricter, so the cells above ask something of each.
    for (const auto& rule : rules::all_rules()) {
        if (rule.monotone.contains(Field::packages)) CHECK_MESSAGE(asked.count(rule.id) == 1, rule.id);
    }
}

TEST_CASE("what a rule judges apart it judges as it does together") {
    std::set<std::string_view> asked;
    for_random_cells(3, [&](RuleCache& cache, std::size_t rule, const Assignment& all) {
        const auto apart = variables_of(cache, cache.rule(rule).apart);
        if (apart.empty()) return;
        auto worst = Verdict::accepted;
        for (const auto one : apart) {
            auto part = all;
            for (const auto other : apart) {
                if (other != one) part[other] = kUnassigned;
            }
            worst = std::max(worst, cache.verdict(rule, part));
        }
        const auto whole = cache.verdict(rule, all);
        CHECK_MESSAGE(worst == whole, cache.rule(rule).id);
        if (whole != Verdict::accepted) asked.insert(cache.rule(rule).id);
    });
    for (const auto& rule : rules::all_rules()) {
        if (!rule.apart.empty()) CHECK_MESSAGE(asked.count(rule.id) == 1, rule.id);
    }
}

TEST_CASE("the first combination is that of a walk over all of them") {
    std::mt19937 random(2);
    int found = 0, none = 0;
    for (int round = 0; round < 60; ++round) {
        RuleCache cache(all_facts(), solve::kToday, world(any_packages(random, 3)));
        const auto domains = some_of(random, cache.variables());
        for (const auto worst : {Verdict::accepted, kGoodEnough, Verdict::unknown}) {
            Search search(cache, domains, worst);
            const auto jumped = search.first();
            CHECK(jumped == first_of_all(cache, domains, worst));
            (jumped ? found : none)++;
            std::size_t blamed = 0;
            const auto any = Search(cache, domains, worst).any([&](std::size_t rule, const Assignment& said) {
                ++blamed;
                CHECK(cache.verdict(rule, said) > worst);
            });
            CHECK(any.has_value() == jumped.has_value());
            if (any) CHECK(cache.verdict(*any) <= worst);
            if (!any) CHECK(blamed > 0);
        }
    }
    CHECK(found > 20);
    CHECK(none > 20);
}

TEST_CASE("another order of the slots finds a combination exactly where there is one") {
    std::mt19937 random(3);
    for (int round = 0; round < 20; ++round) {
        RuleCache cache(all_facts(), solve::kToday, world(any_packages(random, 3)));
        const auto domains = some_of(random, cache.variables());
        std::vector<std::size_t> order(domains.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::shuffle(order.begin(), order.end(), random);
        const auto found = Search(cache, domains, kGoodEnough, order).first();
        CHECK(found.has_value() == first_of_all(cache, domains, kGoodEnough).has_value());
        if (found) CHECK(cache.verdict(*found) <= kGoodEnough);
    }
}

TEST_CASE("a rule says the same of GPUs that count as the same to it, and of what it did not look at") {
    std::mt19937 random(4);
    std::size_t swapped = 0, unread = 0;
    for (int round = 0; round < 8; ++round) {
        RuleCache cache(all_facts(), solve::kToday, world(any_packages(random, 2), known(Field::os)));
        const auto gpu = *cache.gpu_variable();
        for (std::size_t rule = 0; rule < cache.size(); ++rule) {
            const auto& reads = cache.reads(rule);
            if (std::find(reads.begin(), reads.end(), gpu) == reads.end()) continue;
            const auto same = cache.same_gpus(rule);
            for (int cell = 0; cell < 20; ++cell) {
                Assignment all;
                for (const auto& variable : cache.variables())
                    all.push_back(any_of(random, variable.values.size()));
                const auto verdict = cache.verdict(rule, all);
                auto other = all;
                other[gpu] = same[all[gpu]];
                CHECK_MESSAGE(cache.verdict(rule, other) == verdict, cache.rule(rule).id);
                if (other != all) ++swapped;

                std::vector<RuleCache::Look> looks;
                static_cast<void>(cache.ask(rule, all, &looks));
                if (looks.empty()) continue;  // it lacks what it needs
                other = all;
                for (std::size_t variable = 0; variable < all.size(); ++variable) {
                    const bool looked_at =
                        std::any_of(looks.begin(), looks.end(),
                                    [&](const RuleCache::Look& look) { return look.variable == variable; });
                    if (looked_at || !cache.variables()[variable].values[all[variable]]) continue;
                    other[variable] = any_of(random, cache.variables()[variable].values.size() - 1);
                }
                CHECK_MESSAGE(cache.verdict(rule, other) == verdict, cache.rule(rule).id);
                if (other != all) ++unread;
            }
        }
    }
    CHECK(swapped > 1000);
    CHECK(unread > 1000);
}

TEST_CASE("an empty domain, a spent budget and a user who wants no answer end the walk") {
    RuleCache cache(all_facts(), solve::kToday, world({"vllm"}));
    auto domains = everything(cache.variables());
    auto empty = domains;
    empty[1].clear();
    CHECK_FALSE(Search(cache, empty, kGoodEnough).first());
    Search spent(cache, domains, Verdict::accepted);
    spent.set_budget(3);
    CHECK_FALSE(spent.first());
    CHECK(spent.budget() == 0);

    std::size_t told = 0;
    Setting setting;
    setting.on_progress = [&](const JudgingProgress& progress) {
        CHECK(progress.step == "values tried");
        CHECK(progress.done == 1024 * ++told);
        return told < 2;
    };
    RuleCache stopped(all_facts(), solve::kToday, world({"vllm", "flash-attn"}), setting);
    // A rule that no combination satisfies: the walk would never end.
    Search search(stopped, everything(stopped.variables()),
                  [&](std::size_t rule, const Assignment&) { return rule + 1 != stopped.size(); });
    CHECK_FALSE(search.first());
    CHECK(stopped.is_stopped());
    CHECK(told == 2);
}
