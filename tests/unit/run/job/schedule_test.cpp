#include "run/job/schedule.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>

using namespace cudamatrix;
using namespace cudamatrix::job;

namespace {

std::string ends_of(const std::vector<StepEnd>& ends) {
    std::string out;
    for (const auto end : ends)
        out += "-bfd"[static_cast<int>(end)];
    return out;
}

// Runs the steps one after another; those of `failing` fail. Gives their order and how they ended.
std::pair<std::vector<std::size_t>, std::string> walked(const std::vector<Node>& steps, bool keep_going,
                                                        std::vector<std::size_t> failing = {}) {
    std::vector<std::size_t> order;
    const auto ends = run_steps(steps, {{1}, keep_going, nullptr}, [&](std::size_t step) {
        order.push_back(step);
        return std::ranges::count(failing, step) == 0;
    });
    return {order, ends_of(ends)};
}

// Two bases; two images on the first, one on the second; a test behind each image.
const std::vector<Node> kDiamond{{}, {}, {{0}}, {{0}}, {{1}}, {{2}}, {{3}}, {{4}}};

// A graph that `seed` makes: edges to earlier steps, three pools.
std::vector<Node> some_graph(unsigned seed) {
    std::vector<Node> steps(30);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto next = [&] { return seed = seed * 1664525U + 1013904223U, seed >> 16U; };
        steps[i].pool = next() % 3;
        for (std::size_t k = 0; i > 0 && k < next() % 3; ++k)
            steps[i].after.push_back(next() % i);
        std::ranges::sort(steps[i].after);
        steps[i].after.erase(std::unique(steps[i].after.begin(), steps[i].after.end()), steps[i].after.end());
    }
    return steps;
}

}  // namespace

TEST_CASE("schedule: steps run in the order of the list, each behind what it waits for") {
    const auto [order, ends] = walked(kDiamond, true);
    CHECK(ends == "dddddddd");
    CHECK(order == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("schedule: a failure blocks what stands on it, and nothing else") {
    CHECK(walked(kDiamond, true, {0}).second == "fdbbdbbd");
    CHECK(walked(kDiamond, true, {3}).second == "dddfddbd");
    CHECK(walked(kDiamond, true, {7}).second == "dddddddf");
    // Behind two: blocked once, whichever fails, and never run.
    const std::vector<Node> joined{{}, {}, {{0, 1}}, {{2}}};
    CHECK(walked(joined, true, {0}).second == "fdbb");
    CHECK(walked(joined, true, {1}).second == "dfbb");
    CHECK(walked(joined, true, {0, 1}).second == "ffbb");
}

TEST_CASE("schedule: without keep_going a failure keeps later steps from starting") {
    const auto [order, ends] = walked(kDiamond, false, {2});
    CHECK(order == std::vector<std::size_t>{0, 1, 2});
    CHECK(ends == "ddf--b--");
}

TEST_CASE("schedule: an interrupt keeps later steps from starting") {
    Cancellation cancellation;
    const auto ends = run_steps(kDiamond, {{1}, true, &cancellation}, [&](std::size_t step) {
        if (step == 1) cancellation.request();
        return true;
    });
    CHECK(ends_of(ends) == "dd------");
}

TEST_CASE("schedule: no steps, no work; no slots are one") {
    CHECK(run_steps({}, {{4}, true, nullptr}, [](std::size_t) { return true; }).empty());
    for (const auto& slots : {std::vector<unsigned>{}, {0}}) {
        const auto ends = run_steps(kDiamond, {slots, true, nullptr}, [](std::size_t) { return true; });
        CHECK(ends_of(ends) == "dddddddd");
    }
}

TEST_CASE("schedule: whatever the graph and the slots: each once, none early, no pool too full") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        const auto steps = some_graph(seed);
        const std::vector<unsigned> slots{1 + seed % 3, 1 + seed % 2, 4};
        std::vector<int> runs(steps.size());
        std::vector<bool> good(steps.size());
        std::array<unsigned, 3> now{};
        bool in_order = true, within = true;
        std::mutex mutex;
        const auto ends = run_steps(steps, {slots, true, nullptr}, [&](std::size_t step) {
            {
                const std::lock_guard lock(mutex);
                ++runs[step];
                for (const auto before : steps[step].after)
                    in_order = in_order && good[before];
                within = within && ++now[steps[step].pool] <= slots[steps[step].pool];
            }
            std::this_thread::yield();
            const std::lock_guard lock(mutex);
            --now[steps[step].pool];
            good[step] = step % 7 != 6;
            return static_cast<bool>(good[step]);
        });
        CHECK(in_order);
        CHECK(within);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const bool blocked = std::ranges::any_of(
                steps[i].after, [&](std::size_t before) { return ends[before] != StepEnd::done; });
            CHECK(runs[i] == (blocked ? 0 : 1));
            CHECK(ends[i] == (blocked ? StepEnd::blocked : i % 7 != 6 ? StepEnd::done : StepEnd::failed));
        }
    }
}

TEST_CASE("schedule: steps of different pools run side by side") {
    std::atomic<int> there{0};
    const std::vector<Node> steps{{{}, 0}, {{}, 1}, {{}, 2}};
    // Each waits for the others: one after another they would never end.
    const auto ends = run_steps(steps, {{1, 1, 1}, true, nullptr}, [&](std::size_t) {
        ++there;
        while (there < 3)
            std::this_thread::yield();
        return true;
    });
    CHECK(ends_of(ends) == "ddd");
}

TEST_CASE("schedule: the time that steps need goes by the slots and the longest chain") {
    const std::vector<double> seconds{10, 1, 2, 2, 5, 1, 1, 1};
    CHECK(time_needed(kDiamond, {1}, seconds) == std::accumulate(seconds.begin(), seconds.end(), 0.0));
    CHECK(time_needed(kDiamond, {8}, seconds) == 13);  // 0, 2, 5
    CHECK(time_needed(kDiamond, {2}, seconds) == 13);  // 1, 4, 7 beside 0
    CHECK(time_needed(kDiamond, {2}, std::vector<double>(8, 0.0)) == 0);
    CHECK(time_needed({}, {2}, {}) == 0);
}
