#include "base/parallel.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace cudamatrix;

namespace {

// How often each of `count` things was worked on.
std::vector<int> visits(std::size_t count, std::size_t least) {
    std::vector<int> seen(count, 0);
    const auto done = parallel_for(count, least, [&](std::size_t begin, std::size_t end) -> Status {
        for (auto i = begin; i < end; ++i)
            ++seen[i];
        return Done{};
    });
    CHECK(done.ok());
    return seen;
}

std::string failure_at(std::size_t count, const std::vector<std::size_t>& bad) {
    const auto done = parallel_for(count, 1, [&](std::size_t begin, std::size_t end) -> Status {
        for (const auto i : bad) {
            if (begin <= i && i < end) return input_failure(std::to_string(i));
        }
        return Done{};
    });
    return done.ok() ? "" : done.failure().diagnostics.front().message;
}

}  // namespace

TEST_CASE("each of many things is worked on once") {
    for (const std::size_t count : {0, 1, 2, 3, 7, 64, 1001}) {
        for (const std::size_t least : {0, 1, 2, 64, 5000}) {
            CAPTURE(count);
            CAPTURE(least);
            CHECK(visits(count, least) == std::vector<int>(count, 1));
        }
    }
}

TEST_CASE("few things are worked on here, no more than there are processors at once") {
    std::atomic<std::size_t> parts = 0;
    const auto here = std::this_thread::get_id();
    const auto alone = parallel_for(9, 5, [&](std::size_t begin, std::size_t end) -> Status {
        ++parts;
        CHECK(std::this_thread::get_id() == here);
        CHECK(begin == 0);
        CHECK(end == 9);
        return Done{};
    });
    CHECK(alone.ok());
    CHECK(parts == 1);

    parts = 0;
    std::atomic<std::size_t> smallest = 1000;
    const auto many = parallel_for(1000, 3, [&](std::size_t begin, std::size_t end) -> Status {
        ++parts;
        auto least = smallest.load();
        while (end - begin < least && !smallest.compare_exchange_weak(least, end - begin)) {
        }
        return Done{};
    });
    CHECK(many.ok());
    CHECK(parts <= std::max(1u, std::thread::hardware_concurrency()));
    CHECK(smallest >= 3);
}

TEST_CASE("the first failure is told, whichever came first") {
    CHECK(failure_at(100, {}) == "");
    CHECK(failure_at(100, {0}) == "0");
    CHECK(failure_at(100, {99}) == "99");
    CHECK(failure_at(100, {3, 97}) == "3");
    CHECK(failure_at(1, {0}) == "0");
}

TEST_CASE("what is thrown comes out, after all have ended") {
    for (const std::size_t bad : {0, 99}) {
        std::atomic<std::size_t> worked = 0;
        const auto run = [&] {
            return parallel_for(100, 1, [&](std::size_t begin, std::size_t end) -> Status {
                worked += end - begin;
                if (begin <= bad && bad < end) throw std::runtime_error("no memory");
                return Done{};
            });
        };
        CHECK_THROWS_WITH(static_cast<void>(run()), "no memory");
        CHECK(worked == 100);
    }
}

TEST_CASE("on threads: everything is done once, by at most as many as asked for") {
    for (const std::size_t count : {0, 1, 4}) {
        std::atomic<std::size_t> next = 0, threads = 0;
        std::array<std::atomic<int>, 100> done{};
        on_threads(count, [&] {
            ++threads;
            for (auto i = next++; i < done.size(); i = next++)
                ++done[i];
        });
        CHECK(threads == count);
        for (const auto& times : done)
            CHECK(times == (count == 0 ? 0 : 1));
    }
}
