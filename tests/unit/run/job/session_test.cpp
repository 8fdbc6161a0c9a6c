// The main job with a fake engine: everything but the engine is real.
#include "run/job/session.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/sha256.hpp"
#include "kernels/registry.hpp"
#include "render/lock/lock_file.hpp"
#include "run/engine/dialect.hpp"
#include "unit/run/job/session_world.hpp"

using namespace cudamatrix;
using namespace cudamatrix::session_world;
using namespace std::chrono_literals;

TEST_CASE("session: run locks, renders, builds and proves; without a GPU that is exit 4") {
    World world;
    const auto report = world.ran();
    CHECK(report.exit_code == 4);
    CHECK(report.engine == "docker");
    CHECK_FALSE(report.gpu);
    REQUIRE(report.images.size() == 1);
    CHECK(report.images[0].built);
    CHECK_FALSE(report.images[0].reused);
    CHECK(report.images[0].runtime_bytes == 1'000'000);
    CHECK(report.images[0].proof_bytes == 2'000'000);
    CHECK(is_sha256(report.images[0].inputs));
    CHECK(is_sha256(report.images[0].proof_inputs));
    CHECK(report.images[0].inputs != report.images[0].proof_inputs);
    REQUIRE(report.cells.size() == 2);
    for (const auto& cell : report.cells) {
        CHECK(cell.outcome == CellOutcome::passed_without_gpu);
        CHECK(cell.proof == Proof::interpreted);
        std::size_t parts = 0;
        for (const auto& test : suite::all_tests())
            parts += test.parts().size();
        CHECK(cell.tests.size() == parts);
        CHECK(fs::exists(world.settings.out / cell.log));
    }
    CHECK(fs::exists(world.lock_file()));
    CHECK(world.fake.containers().empty());
    CHECK(world.progress.find("[lock 1/1] ") != std::string::npos);
    CHECK(world.progress.find("[build 1/1] ") != std::string::npos);
    CHECK(world.progress.find("[test 2/2] ") != std::string::npos);
    // What was done, not only that it went well.
    for (const auto& cell : report.cells) {
        const auto said = fmt::format("] {}: {} (", cell.id, report::tests_text(cell));
        CHECK_MESSAGE(world.progress.find(said) != std::string::npos, said << " in " << world.progress);
        CHECK(report::count_tests(cell).passed != 0);
    }
    CHECK(world.progress.find("passed_without_gpu") == std::string::npos);
}

TEST_CASE("session: a cell of several entries of images is proved in each of its images") {
    World world(std::string(kTwoCells) +
                "images:\n"
                "  - {name: train, env: {MODE: train}}\n"
                "  - {name: serve, when: {gpu: T4}, env: {MODE: serve}}\n");
    const auto report = world.ran();
    CHECK(report.exit_code == 4);
    REQUIRE(report.images.size() == 2);
    std::vector<std::string> seen;
    for (const auto& cell : report.cells) {
        CHECK(cell.outcome == CellOutcome::passed_without_gpu);
        seen.push_back(
            fmt::format("{} is {} in {}{}", cell.id, cell.cell, cell.image, cell.again ? ", again" : ""));
        CHECK(fs::exists(world.settings.out / cell.log));
    }
    const std::string t4 = "drv550.54.15-t4-cu11.8.0-debian12";
    const std::string h100 = "drv550.54.15-h100-cu11.8.0-debian12";
    CHECK(seen == std::vector<std::string>{t4 + "@train is " + t4 + " in train-debian12-cu11.8.0",
                                           t4 + "@serve is " + t4 + " in serve-debian12-cu11.8.0, again",
                                           h100 + " is " + h100 + " in train-debian12-cu11.8.0"});
    // What each image was proved to do is kept by itself.
    const auto again = world.ran();
    CHECK(again.exit_code == 4);
    CHECK(world.progress.find("3 cells: proved by an earlier run, reused") != std::string::npos);
}

TEST_CASE("session: several images at a time: each context holds its files, all images are built") {
    World world(std::string(kTwoCells) +
                "images:\n"
                "  - {name: a, env: {MODE: a}}\n"
                "  - {name: b, env: {MODE: b}}\n"
                "  - {name: c, env: {MODE: c}}\n"
                "  - {name: d, env: {MODE: d}}\n");
    REQUIRE(world.lock().ok());
    world.settings.jobs = 3;
    for (int round = 0; round < 2; ++round) {
        const auto report = world.build();
        REQUIRE(report.ok());
        REQUIRE(report->images.size() == 4);
        for (const auto& image : report->images) {
            CAPTURE(image.id);
            CHECK(image.error.empty());
            CHECK(image.built);
            CHECK(image.reused == (round != 0));
            const auto folder = world.settings.out / "images" / image.id;
            CHECK(fs::exists(folder / "suite/kernels/runner/main.cpp"));
            CHECK_FALSE(fs::exists(folder / ".cudamatrix-stage"));
            CHECK_FALSE(fs::exists(folder / ".cudamatrix-ready"));
        }
    }
}

TEST_CASE("session: a second run builds nothing, tests nothing and gives the same result") {
    World world;
    const auto first = world.ran();
    const auto builds = world.fake.calls("build").size();
    const auto runs = world.fake.calls("run").size();
    const auto second = world.ran();
    CHECK(world.fake.calls("build").size() == builds);
    CHECK(world.fake.calls("run").size() == runs);
    CHECK(second.exit_code == first.exit_code);
    CHECK(second.images[0].reused);
    CHECK(second.cells[0].tests.size() == first.cells[0].tests.size());
    CHECK(second.cells[0].log == first.cells[0].log);
    CHECK(world.progress.find("2 cells: proved by an earlier run, reused") != std::string::npos);
}

TEST_CASE(
    "session: a deleted image is built again, and its cells are proved again only if it came out different") {
    World world;
    static_cast<void>(world.ran());
    const auto runs = world.fake.calls("run").size();
    fs::remove(world.fake.state() / "images.json");
    const auto again = world.ran();
    CHECK_FALSE(again.images[0].reused);
    CHECK(again.exit_code == 4);
    CHECK(world.fake.calls("run").size() == runs);  // the fake builds are reproducible
}

TEST_CASE("session: changed inputs rebuild the image and repeat its tests") {
    World world;
    static_cast<void>(world.ran());
    const auto runs = world.fake.calls("run").size();
    // Another version of the compiler is pinned.
    auto text = content_of(world.lock_file());
    const auto at = text.find("11.3.0-12");
    REQUIRE(at != std::string::npos);
    std::ofstream(world.lock_file()) << text.replace(at, 9, "11.3.0-13");
    const auto again = world.ran();
    CHECK_FALSE(again.images[0].reused);
    CHECK(world.fake.calls("run").size() == runs + 2);
}

TEST_CASE("session: a new GPU builds another proof on the image that is there") {
    World world;
    const auto before = world.ran().images[0].digest;
    const auto builds = world.fake.calls("build").size();
    std::ofstream(world.folder() / "matrix.yaml")
        << text::replace_all(kTwoCells, "[T4, H100]", "[T4, H100, L4]");
    const auto again = world.ran();
    CHECK(again.exit_code == 4);
    CHECK_FALSE(again.images[0].reused);
    CHECK(again.images[0].digest == before);
    const auto calls = world.fake.calls("build");
    REQUIRE(calls.size() == builds + 1);
    CHECK(text::join(calls.back(), " ").find("/proof.Dockerfile ") != std::string::npos);
}

TEST_CASE("session: failed cells are repeated, passed ones are not") {
    World world;
    world.fake.faults("fail:drv550.54.15-h100-cu11.8.0-debian12");
    const auto first = world.ran();
    CHECK(first.exit_code == 1);
    CHECK(first.cells[0].outcome == CellOutcome::passed_without_gpu);
    CHECK(first.cells[1].outcome == CellOutcome::failed);
    CHECK(first.cells[1].proof == Proof::built);
    const auto runs = world.fake.calls("run").size();
    world.fake.faults("");
    const auto second = world.ran();
    CHECK(second.exit_code == 4);
    CHECK(world.fake.calls("run").size() == runs + 1);
}

TEST_CASE("session: whatever an image prints that is not a whole and honest answer is exit 1") {
    for (const auto* fault :
         {"fail:static.fatbin", "missing:cmp.vadd", "plan_short", "unknown_test", "forged_cell",
          "forged_exit", "no_totals", "bad_utf8", "garbled", "run_floods", "run_dies", "other_code_path"}) {
        World world;
        INFO(fault);
        world.fake.faults(fault);
        const auto report = world.ran();
        CHECK(report.exit_code == 1);
        for (const auto& cell : report.cells) {
            CHECK((cell.outcome == CellOutcome::failed || cell.outcome == CellOutcome::errored));
            CHECK(cell.proof < Proof::loaded);
            CHECK_FALSE(cell.reason.empty());
        }
        CHECK(world.fake.containers().empty());
    }
}

TEST_CASE("session: escape sequences are cleaned, and are no reason to fail") {
    World world;
    world.fake.faults("ansi");
    const auto report = world.ran();
    CHECK(report.exit_code == 4);
    CHECK(report.cells[0].tests[2].summary == "?[2Jstatic.compile");
}

TEST_CASE("session: a container that hangs is ended by the time limit and its cell is errored") {
    World world;
    world.settings.test_limit = 500ms;
    world.fake.faults("run_hangs");
    const auto report = world.ran();
    CHECK(report.exit_code == 1);
    CHECK(report.cells[0].outcome == CellOutcome::errored);
    CHECK(report.cells[0].reason.find("the suite: timed out") == 0);
    CHECK(world.fake.containers().empty());
}

TEST_CASE("session: the code found in an image must run by the code path that the rules expect") {
    World world;
    world.fake.faults("other_code_path");
    const auto report = world.ran();
    CHECK(report.cells[0].outcome == CellOutcome::failed);
    CHECK(report.cells[0].reason == "rules and image disagree: expected sass 7.5, found sass 7.0");
    CHECK(report.cells[0].findings.back() ==
          "error: the rules expect sass 7.5 for compute capability 7.5, the image has: sass 7.0 "
          "[image-agrees-with-rules, at runtime]");
}

TEST_CASE("session: an image that cannot be built makes its cells errored, with its log, and exit 1") {
    World world;
    REQUIRE(world.lock().ok());
    world.fake.faults("build_fails");
    const auto report = world.ran();
    CHECK(report.exit_code == 1);
    CHECK_FALSE(report.images[0].built);
    CHECK(report.images[0].error.find(": the build failed: ") != std::string::npos);
    CHECK(report.images[0].error.find('\x1b') == std::string::npos);
    CHECK(report.cells[0].outcome == CellOutcome::errored);
    CHECK(report.cells[0].reason == report.images[0].error);
    CHECK(content_of(world.settings.out / report.images[0].log).find("executor failed running") !=
          std::string::npos);
    CHECK(world.fake.calls("run").empty());
}

TEST_CASE("session: what failed to build ends with its last lines; others go on, and --fail-fast ends all") {
    World world(std::string(kTwoCells) +
                "images:\n"
                "  - {name: a, env: {MODE: a}}\n"
                "  - {name: b, env: {MODE: b}}\n");
    REQUIRE(world.lock().ok());
    world.fake.faults("build_fails:a-debian12-cu11.8.0");
    std::string b_error, b_reason;
    SUBCASE("going on") {}
    SUBCASE("fail fast") {
        world.settings.keep_going = false;
        b_error = b_reason = "not built: an earlier step failed";
    }
    const auto report = world.ran();
    CHECK(report.exit_code == 1);
    CHECK(report.images[0].error.starts_with("a-debian12-cu11.8.0: the build failed: "));
    CHECK(report.images[1].error == b_error);
    CHECK(world.progress.find("    | #6 ERROR: executor failed running [/bin/sh -c false]: exit code: 1\n"
                              "    | ?[31mfailed to solve?[0m\n") != std::string::npos);
    for (const auto& cell : report.cells) {
        if (cell.image != "b-debian12-cu11.8.0") continue;
        CHECK(cell.outcome == (b_error.empty() ? CellOutcome::passed_without_gpu : CellOutcome::errored));
        CHECK((b_reason.empty() || cell.reason == b_reason));
    }
}

TEST_CASE("session: a build that the network spoilt is tried again, and one that failed is not") {
    World world;
    REQUIRE(world.lock().ok());
    world.settings.retries = 2;
    world.settings.retry_pause = 1ms;
    const auto before = world.fake.calls("build").size();
    SUBCASE("it heals") {
        world.fake.faults("build_unreached:2");
        CHECK(world.ran().exit_code == 4);
        CHECK(world.fake.calls("build").size() == before + 4);  // image, image, image, proof
        CHECK(world.progress.find("dial tcp 192.0.2.1:443: i/o timeout; attempt 2 of 3 in 0 s") !=
              std::string::npos);
    }
    SUBCASE("it does not") {
        world.fake.faults("build_unreached:9");
        const auto report = world.ran();
        CHECK(report.exit_code == 1);
        CHECK(report.images[0].error.ends_with("i/o timeout"));
        CHECK(world.fake.calls("build").size() == before + 3);
    }
    SUBCASE("it failed for another reason") {
        world.fake.faults("build_fails");
        CHECK(world.ran().exit_code == 1);
        CHECK(world.fake.calls("build").size() == before + 1);
    }
    SUBCASE("a failing test") {
        world.fake.faults("fail:cmp.vadd");
        CHECK(world.ran().exit_code == 1);
        CHECK(world.fake.calls("run").size() == 2);  // a cell each
    }
}

TEST_CASE("session: a cell is tested while other images are built") {
    World world(std::string(kTwoCells) +
                "images:\n"
                "  - {name: a, env: {MODE: a}}\n"
                "  - {name: b, env: {MODE: b}}\n");
    REQUIRE(world.lock().ok());
    CHECK(world.ran().exit_code == 4);
    const auto calls = world.fake.calls();
    const auto position = [&](std::string_view verb, std::string_view word, bool last) {
        std::size_t found = calls.size();
        for (std::size_t i = 0; i < calls.size(); ++i) {
            if (calls[i].front() != verb || text::join(calls[i], " ").find(word) == std::string::npos)
                continue;
            found = i;
            if (!last) break;
        }
        REQUIRE(found < calls.size());
        return found;
    };
    // No test waits for the image of another: the first of a's cells is behind a's proof only.
    CHECK(position("run", "@a", false) > position("build", "a-debian12-cu11.8.0", true));
    CHECK(world.progress.find("[proof 2/2] b-debian12-cu11.8.0: built in") != std::string::npos);
}

TEST_CASE("session: a dry run tells the programs that would be started, starts none and writes nothing") {
    World world;
    const auto rehearsed = [&](std::string_view command) {
        auto rehearsal = world.with_input(
            [&](const RunInput& input, const RunSettings& with) { return rehearse(input, with, command); });
        REQUIRE(rehearsal.ok());
        return std::move(*rehearsal);
    };
    const auto kinds = [](const report::Rehearsal& rehearsal) {
        std::vector<std::string> out;
        for (const auto& step : rehearsal.steps)
            out.push_back(text::join({step.kind, step.of, text::join(step.after, ", ")}, "|"));
        return out;
    };
    const std::string image = "debian12-cu11.8.0";
    const std::string t4 = "drv550.54.15-t4-cu11.8.0-debian12";
    const std::string h100 = "drv550.54.15-h100-cu11.8.0-debian12";
    CHECK(kinds(rehearsed("run")) ==
          std::vector<std::string>{"lock|" + image + "|", "base|bookworm|",
                                   "build|" + image + "|base bookworm", "proof|" + image + "|build " + image,
                                   "test|" + t4 + "|proof " + image, "test|" + h100 + "|proof " + image});
    CHECK_FALSE(fs::exists(world.settings.out));
    CHECK_FALSE(fs::exists(world.lock_file()));
    CHECK(world.fake.calls("build").empty());

    // What it tells is what is started.
    REQUIRE(world.lock().ok());
    const auto first = rehearsed("run");
    const auto told = rehearsed("build");
    CHECK(kinds(told) ==
          std::vector<std::string>{"build|" + image + "|", "proof|" + image + "|build " + image});
    const auto before = world.fake.calls().size();
    static_cast<void>(world.ran());
    auto calls = world.fake.calls();
    calls.erase(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(before));
    for (const auto& step : first.steps) {
        if (step.kind == "test") continue;  // by the image's id, which nobody knows before
        const std::vector<std::string> arguments(step.argv.begin() + 1, step.argv.end());
        CHECK_MESSAGE(std::ranges::count(calls, arguments) == 1, text::join(step.argv, " "));
        const std::pair<std::string, std::string> buildkit{"DOCKER_BUILDKIT", "1"};
        CHECK(std::ranges::count(step.environment, buildkit) == 1);
    }
    CHECK(rehearsed("run").steps.empty());  // all is done
    CHECK(rehearsed("test").steps.empty());
}

TEST_CASE("session: a build that hangs is ended by the time limit") {
    World world;
    REQUIRE(world.lock().ok());
    world.settings.build_limit = 500ms;
    world.fake.faults("build_hangs");
    const auto report = world.with_input([](const RunInput& input, RunSettings settings) {
        settings.build_limit = 300ms;
        return build_images(input, settings);
    });
    REQUIRE(report.ok());
    CHECK(report->exit_code == 1);
    CHECK(report->images[0].error.find("timed out") != std::string::npos);
}

TEST_CASE("session: build needs a lock that covers every image, and says how to get it") {
    World world;
    const auto report = world.build();
    CHECK(refusal(report, ExitCode::bad_input) ==
          world.lock_file().string() + " does not cover debian12-cu11.8.0");
    CHECK(report.failure().diagnostics.front().fix ==
          "cudamatrix lock " + (world.folder() / "matrix.yaml").string());
}

TEST_CASE("session: build builds and proves nothing; test proves what was built and builds nothing") {
    World world;
    REQUIRE(world.lock().ok());
    const auto untested = world.test();
    REQUIRE(untested.ok());
    CHECK(untested->exit_code == 1);
    CHECK(untested->cells[0].reason == "its image debian12-cu11.8.0 is not built: cudamatrix build makes it");

    const auto built = world.build();
    REQUIRE(built.ok());
    CHECK(built->exit_code == 0);
    CHECK(built->cells[0].outcome == CellOutcome::planned);
    CHECK(built->cells[0].proof == Proof::built);
    CHECK(world.fake.calls("run").empty());

    const auto builds = world.fake.calls("build").size();
    const auto tested = world.test();
    REQUIRE(tested.ok());
    CHECK(tested->exit_code == 4);
    CHECK(world.fake.calls("build").size() == builds);
}

TEST_CASE("session: what is missing on the machine is exit 3, names the fix, and leaves no torn file") {
    World world;
    std::string expected;
    SUBCASE("no docker") {
        fs::remove(world.fake.client());
        expected =
            "engine docker: no";  // "no program docker", or none that works where a real client is installed
    }
    SUBCASE("daemon down") {
        world.fake.faults("daemon_down");
        expected = "engine docker: none of its clients works";
    }
    SUBCASE("disk too small") {
        REQUIRE(world.lock().ok());
        world.settings.disk_bytes = 900'000'000'000'000'000u;
        expected = "not enough disk space at ";
    }
    const auto report = world.run();
    REQUIRE_FALSE(report.ok());
    CHECK(report.failure().code == ExitCode::environment);
    CHECK(report.failure().diagnostics.front().message.find(expected) == 0);
    CHECK_FALSE(report.failure().diagnostics.front().fix.empty());
    CHECK(torn_files(world.folder()) == 0);
}

TEST_CASE("session: a daemon that dies in the middle is exit 3") {
    World world;
    REQUIRE(world.lock().ok());
    world.fake.faults("daemon_dies");
    const auto report = world.run();
    REQUIRE_FALSE(report.ok());
    CHECK(report.failure().code == ExitCode::environment);
}

TEST_CASE(
    "session: an interrupt ends with 130, without containers, and a further run goes on where it stopped") {
    World world;
    REQUIRE(world.lock().ok());
    Cancellation cancellation;
    world.settings.cancellation = &cancellation;
    world.fake.faults("run_hangs");
    const auto start = std::chrono::steady_clock::now();
    std::thread later([&] {
        // As soon as the first container is there.
        for (int i = 0; i < 1000 && world.fake.containers().empty(); ++i)
            std::this_thread::sleep_for(10ms);
        cancellation.request();
    });
    const auto report = world.run();
    later.join();
    REQUIRE(report.ok());
    CHECK(report->exit_code == 130);
    CHECK(report->cells[0].outcome == CellOutcome::planned);
    CHECK(report->cells[0].reason == "interrupted");
    CHECK(report->cells[1].reason == "interrupted");
    CHECK(world.fake.containers().empty());
    CHECK(std::chrono::steady_clock::now() - start < 120s);  // what hangs does so for 600 s
    CHECK(torn_files(world.folder()) == 0);

    world.settings.cancellation = nullptr;
    world.fake.faults("");
    const auto builds = world.fake.calls("build").size();
    CHECK(world.ran().exit_code == 4);
    CHECK(world.fake.calls("build").size() == builds);
}

TEST_CASE("session: an interrupt before anything began is 130 too") {
    World world;
    Cancellation cancellation;
    cancellation.request();
    world.settings.cancellation = &cancellation;
    const auto report = world.run();
    REQUIRE(report.ok());
    CHECK(report->exit_code == 130);
}

TEST_CASE("session: render writes files and nothing else, with or without a lock") {
    World world;
    const auto report = world.render();
    REQUIRE(report.ok());
    CHECK(report->exit_code == 0);
    CHECK(report->cells[0].proof == Proof::rendered);
    CHECK(world.fake.calls().empty());
    CHECK_FALSE(fs::exists(world.lock_file()));
    CHECK(fs::exists(world.settings.out / "images" / "debian12-cu11.8.0" / "Dockerfile"));
}

TEST_CASE("session: two programs do not work in one output folder") {
    World world;
    fs::create_directories(world.settings.out);
    const int fd = ::open(world.settings.out.c_str(), O_RDONLY | O_DIRECTORY);
    REQUIRE(::flock(fd, LOCK_EX) == 0);
    const auto report = world.render();
    ::close(fd);
    CHECK(refusal(report, ExitCode::environment) ==
          "another cudamatrix is at work in " + world.settings.out.string());
    CHECK(world.render().ok());
}

TEST_CASE("session: audit: no container run of a whole job carries a forbidden argument") {
    World world;
    static_cast<void>(world.ran());
    const auto runs = world.fake.calls("run");
    CHECK(runs.size() == 2);
    for (const auto& call : runs) {
        CHECK_FALSE(engine::forbidden_argument(call).has_value());
        CHECK(std::count(call.begin(), call.end(), "--read-only") == 1);
        CHECK(std::count(call.begin(), call.end(), "--cap-drop") == 1);
        CHECK(std::count(call.begin(), call.end(), "--cpus") == 1);
    }
}
