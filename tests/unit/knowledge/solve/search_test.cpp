// The walk that leaves branches and jumps back, against one that tries every combination; and what it takes
// for granted of rules whose fields add up.
#include "knowledge/solve/search.hpp"

#include <doctest/doctest.h>
#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "base/text.hpp"
#include "knowledge/rules/all_rules.hpp"
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

Slot releases(const std::string& package) {
    auto slot = slot_of_package(all_facts(), package);
    slot.values.emplace_back(std::nullopt);
    return slot;
}

Slot known(Field field) {
    auto slot = slot_of(all_facts(), field);
    slot.values.emplace_back(std::nullopt);
    return slot;
}

std::vector<Slot> world(const std::vector<std::string>& packages, std::optional<Slot> more = {}) {
    std::vector<Slot> slots{known(Field::torch), known(Field::python)};
    if (more) slots.push_back(*std::move(more));
    for (const auto& package : packages)
        slots.push_back(releases(package));
    slots.push_back(known(Field::driver));
    slots.push_back(known(Field::gpu));
    return slots;
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

// A few values of each slot; of packages one that is not named, too.
Domains some_of(std::mt19937& random, const std::vector<Slot>& slots) {
    Domains domains;
    for (const auto& slot : slots) {
        std::set<std::uint32_t> some;
        if (!slot.package.empty()) some.insert(*slot.nothing());
        for (int i = 0; i < 2; ++i)
            some.insert(any_of(random, slot.values.size()));
        // Most GPUs are in hosts of any kind: one that is not answers otherwise where no arch is named.
        if (slot.field == Field::gpu) some.insert(*slot.find("GB200"));
        domains.emplace_back(some.begin(), some.end());
    }
    return domains;
}

// Every combination in the order of the domains, the first slot the slowest.
std::optional<Picks> first_of_all(Oracle& oracle, const Domains& domains, Verdict worst) {
    std::vector<std::size_t> at(domains.size(), 0);
    for (;;) {
        Picks picks;
        for (std::size_t i = 0; i < at.size(); ++i)
            picks.push_back(domains[i][at[i]]);
        if (oracle.verdict(picks) <= worst) return picks;
        std::size_t slot = at.size();
        while (slot > 0 && ++at[slot - 1] == domains[slot - 1].size())
            at[--slot] = 0;
        if (slot == 0) return std::nullopt;
    }
}

}  // namespace

TEST_CASE("a rule never grows milder when one more of the fields that add up is named") {
    std::mt19937 random(1);
    std::set<std::string_view> asked;
    for (int round = 0; round < 30; ++round) {
        Oracle oracle(all_facts(), kToday, world(any_packages(random, 4), known(Field::cuda)));
        for (int cell = 0; cell < 20; ++cell) {
            Picks all;
            for (const auto& slot : oracle.slots())
                all.push_back(any_of(random, slot.values.size()));
            for (std::size_t rule = 0; rule < oracle.size(); ++rule) {
                const auto add_up = oracle.rule(rule).add_up;
                const auto whole = oracle.verdict(rule, all);
                for (std::size_t slot = 0; slot < all.size(); ++slot) {
                    if (!add_up.contains(oracle.slots()[slot].field)) continue;
                    auto fewer = all;
                    fewer[slot] = kNotPicked;
                    const auto part = oracle.verdict(rule, fewer);
                    CHECK_MESSAGE(part <= whole, oracle.rule(rule).id, " without ",
                                  oracle.slots()[slot].name());
                    if (part != whole) asked.insert(oracle.rule(rule).id);
                }
            }
        }
    }
    // Each of them was seen to grow stricter, so the cells above ask something of each.
    for (const auto& rule : rules::all_rules()) {
        if (rule.add_up.contains(Field::packages)) CHECK_MESSAGE(asked.count(rule.id) == 1, rule.id);
    }
}

TEST_CASE("the first combination is that of a walk over all of them") {
    std::mt19937 random(2);
    int found = 0, none = 0;
    for (int round = 0; round < 60; ++round) {
        Oracle oracle(all_facts(), kToday, world(any_packages(random, 3)));
        const auto domains = some_of(random, oracle.slots());
        for (const auto worst : {Verdict::accepted, kGoodEnough, Verdict::unknown}) {
            std::size_t closed = 0;
            Search search(oracle, domains, worst);
            const auto jumped = search.first([&](std::size_t rule, const Picks& picks) {
                ++closed;
                CHECK(oracle.verdict(rule, picks) > worst);
            });
            CHECK(jumped == first_of_all(oracle, domains, worst));
            (jumped ? found : none)++;
            if (!jumped) CHECK(closed > 0);
        }
    }
    CHECK(found > 20);
    CHECK(none > 20);
}

TEST_CASE("another order of the slots finds a combination exactly where there is one") {
    std::mt19937 random(3);
    for (int round = 0; round < 20; ++round) {
        Oracle oracle(all_facts(), kToday, world(any_packages(random, 3)));
        const auto domains = some_of(random, oracle.slots());
        std::vector<std::size_t> order(domains.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::shuffle(order.begin(), order.end(), random);
        const auto found = Search(oracle, domains, kGoodEnough, order).first();
        CHECK(found.has_value() == first_of_all(oracle, domains, kGoodEnough).has_value());
        if (found) CHECK(oracle.verdict(*found) <= kGoodEnough);
    }
}

TEST_CASE("an empty domain, a spent budget and a user who wants no answer end the walk") {
    Oracle oracle(all_facts(), kToday, world({"vllm"}));
    auto domains = everything(oracle.slots());
    auto empty = domains;
    empty[1].clear();
    CHECK_FALSE(Search(oracle, empty, kGoodEnough).first());
    Search spent(oracle, domains, Verdict::accepted);
    spent.set_budget(3);
    CHECK_FALSE(spent.first());
    CHECK(spent.budget() == 0);

    std::size_t told = 0;
    Setting setting;
    setting.go_on = [&](const JudgingProgress& progress) {
        CHECK(progress.step == "values tried");
        CHECK(progress.done == 1024 * ++told);
        return told < 2;
    };
    Oracle stopped(all_facts(), kToday, world({"vllm", "flash-attn"}), setting);
    // A rule that no combination satisfies: the walk would never end.
    Search search(stopped, everything(stopped.slots()),
                  [&](std::size_t rule, const Picks&) { return rule + 1 != stopped.size(); });
    CHECK_FALSE(search.first());
    CHECK(stopped.is_stopped());
    CHECK(told == 2);
}
