#include "run/job/schedule.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

using namespace cudamatrix;
using namespace cudamatrix::job;
using namespace std::chrono_literals;

TEST_CASE("schedule: every job runs once, whatever the number of threads") {
    for (const unsigned jobs : {0u, 1u, 2u, 7u, 100u}) {
        std::mutex mutex;
        std::multiset<std::size_t> ran;
        const auto started = run_jobs(20, {jobs, true, nullptr}, [&](std::size_t index) {
            const std::lock_guard lock(mutex);
            ran.insert(index);
            return index % 3 != 0;
        });
        CHECK(started == 20);
        CHECK(ran.size() == 20);
        CHECK(std::set<std::size_t>(ran.begin(), ran.end()).size() == 20);
    }
}

TEST_CASE("schedule: never more at a time than asked for") {
    std::atomic<int> now{0};
    std::atomic<int> most{0};
    static_cast<void>(run_jobs(12, {3, true, nullptr}, [&](std::size_t) {
        const int running = ++now;
        int seen = most;
        while (running > seen && !most.compare_exchange_weak(seen, running)) {
        }
        std::this_thread::sleep_for(5ms);
        --now;
        return true;
    }));
    CHECK(most <= 3);
    CHECK(most >= 1);
}

TEST_CASE("schedule: without keep_going a failure keeps later jobs from starting") {
    std::size_t ran = 0;
    const auto started = run_jobs(10, {1, false, nullptr}, [&](std::size_t index) {
        ++ran;
        return index != 3;
    });
    CHECK(started == 4);
    CHECK(ran == 4);
}

TEST_CASE("schedule: an interrupt keeps later jobs from starting") {
    Cancellation cancellation;
    const auto started = run_jobs(10, {1, true, &cancellation}, [&](std::size_t index) {
        if (index == 1) cancellation.request();
        return true;
    });
    CHECK(started == 2);
}

TEST_CASE("schedule: no jobs, no work") {
    CHECK(run_jobs(0, {4, true, nullptr}, [](std::size_t) { return true; }) == 0);
}
