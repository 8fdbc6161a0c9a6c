#include "run/job/plan_id.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "unit/run/job/session_world.hpp"

using namespace cudamatrix;
using namespace cudamatrix::job;
using namespace cudamatrix::session_world;

namespace {

// What every cell of the plan is asked, "CELL gpu" -> the test.
std::map<std::string, RemoteTest> asked(World& world) {
    std::map<std::string, RemoteTest> out;
    world.with_input([&](const RunInput& input, const RunSettings& settings) {
        const auto plan = make_plan(input, settings, "test");
        REQUIRE(plan.ok());
        for (const auto& cell : plan->report.cells) {
            if (cell.image.empty()) continue;
            for (const bool gpu : {true, false})
                out.emplace(cell.id + (gpu ? " gpu" : " nogpu"),
                            remote_test(input, *plan, settings, cell, gpu));
        }
        return 0;
    });
    return out;
}

std::map<std::string, RemoteTest> asked_of(const std::string& matrix,
                                           const std::function<void(World&)>& change = {}) {
    World world(matrix);
    if (change) change(world);
    return asked(world);
}

}  // namespace

TEST_CASE("plan id: 16 hex digits, and the last of the arguments") {
    const auto tests = asked_of(kTwoCells);
    REQUIRE(tests.size() == 4);
    for (const auto& [name, test] : tests) {
        CHECK(test.plan_id.size() == 16);
        CHECK(test.plan_id.find_first_not_of("0123456789abcdef") == std::string::npos);
        REQUIRE(test.arguments.size() > 6);
        CHECK(test.arguments[0] == "run");
        CHECK(test.arguments[1] == "--cell");
        CHECK(test.arguments[2] == name.substr(0, name.find(' ')));
        CHECK(std::ranges::count(test.arguments, "--lib") == 1);
        CHECK(test.arguments[test.arguments.size() - 2] == "--run");
        CHECK(test.arguments.back() == test.plan_id);
        CHECK(std::ranges::count(test.arguments, "--run") == 1);
    }
}

TEST_CASE("plan id: every cell, image and mode has its own") {
    for (const auto* matrix : {kTwoCells, kTwoImages}) {
        const auto tests = asked_of(matrix);
        std::set<std::string> ids;
        for (const auto& [name, test] : tests)
            ids.insert(test.plan_id);
        CHECK(ids.size() == tests.size());
        CHECK(tests.size() == (matrix == kTwoImages ? 8 : 4));
    }
}

TEST_CASE("plan id: neither day, machine, folder nor choice changes it, nor a comment in the file") {
    const auto before = asked_of(kTwoCells);
    const std::function<void(World&)> changes[] = {
        [](World& world) { world.settings.today = "2026-12-24"; },
        [](World& world) { world.settings.run_id = "r2"; },
        [](World& world) { world.settings.out = world.folder() / "else where"; },
        [](World& world) { world.settings.engine = "podman"; },
        [](World& world) { world.settings.jobs = 7; },
        [](World& world) { world.settings.environment["HOSTNAME"] = "node17"; },
        [](World& world) { world.settings.choice.images = {"debian12-cu11.8.0"}; },
        [](World& world) { world.settings.soak_minutes = 99; },
        [](World& world) { world.settings.strict = world.settings.require_gpu = true; },
    };
    const auto same = [&](const std::map<std::string, RemoteTest>& after) {
        return std::ranges::equal(before, after, [](const auto& a, const auto& b) {
            return a.first == b.first && a.second.plan_id == b.second.plan_id &&
                   a.second.arguments == b.second.arguments;
        });
    };
    for (const auto& change : changes)
        CHECK(same(asked_of(kTwoCells, change)));
    CHECK(same(asked_of(std::string("# a comment\n") + kTwoCells)));
}

TEST_CASE("plan id: whatever changes the image, its proof or what is asked changes it") {
    const auto before = asked_of(kTwoCells);
    const auto all_differ = [&](const std::map<std::string, RemoteTest>& after) {
        std::set<std::string> ids;
        for (const auto* tests : {&before, &after}) {
            for (const auto& [name, test] : *tests)
                ids.insert(test.plan_id);
        }
        return after.size() == before.size() && ids.size() == 2 * before.size();
    };
    CHECK_FALSE(all_differ(before));
    CHECK(all_differ(asked_of(text::replace_all(kTwoCells, "550.54.15", "580.65.06"))));
    CHECK(all_differ(
        asked_of(text::replace_all(kTwoCells, "os: debian12", "os: debian12\n  python: [\"3.11\"]"))));
    CHECK(all_differ(asked_of(std::string(kTwoCells) + "images:\n  - {name: a, env: {MODE: a}}\n")));
    for (const auto* level : {"standard", "full", "soak"})
        CHECK(all_differ(asked_of(kTwoCells, [&](World& world) { world.settings.level = level; })));
    const auto soaked = asked_of(kTwoCells, [](World& world) { world.settings.level = "soak"; });
    const auto longer = asked_of(kTwoCells, [](World& world) {
        world.settings.level = "soak";
        world.settings.soak_minutes = 99;
    });
    for (const auto& [name, test] : soaked)
        CHECK(test.plan_id != longer.find(name)->second.plan_id);
    // The lock pins what an image is made of.
    World world;
    CHECK(world.lock().ok());
    const auto locked = asked(world);
    CHECK(all_differ(locked));
}
