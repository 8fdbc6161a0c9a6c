#include <doctest/doctest.h>

#include "render/lock/lock_file.hpp"
#include "unit/run/job/session_world.hpp"

using namespace cudamatrix;
using namespace cudamatrix::session_world;

TEST_CASE("session: lock records verdicts, and anew where they moved; run accepts none that moved") {
    World world;
    REQUIRE(world.lock().ok());
    const auto first = read_lock(world.lock_file());
    REQUIRE(first.ok());
    REQUIRE((*first)->verdicts);
    CHECK((*first)->verdicts->size() == 2);

    auto other = **first;
    other.verdicts->begin()->second = {"rejected", {"a-rule"}};
    REQUIRE(write_lock(world.lock_file(), other).ok());
    REQUIRE(world.run().ok());
    CHECK(**read_lock(world.lock_file()) == other);
    const auto again = world.lock();
    REQUIRE(again.ok());
    CHECK(*again == std::vector<std::string>{"verdicts: 1 cell moved"});
    CHECK(**read_lock(world.lock_file()) == **first);

    other.verdicts.reset();  // of before
    REQUIRE(write_lock(world.lock_file(), other).ok());
    CHECK(*world.lock() == std::vector<std::string>{"verdicts: 2 cells recorded"});
}
