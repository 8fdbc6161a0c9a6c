#include "run/engine/engine.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "fakes/fake_docker.hpp"
#include "run/host/nvidia_smi.hpp"

using namespace cudamatrix;
using namespace cudamatrix::engine;
using namespace std::chrono_literals;

namespace {

Result<Engine> choose_only(const fakes::FakeDocker& fake, std::string_view wanted = "docker") {
    return choose(wanted, fake.environment, nullptr, {});
}

std::string everything(const Failure& failure) {
    std::string all;
    for (const auto& diagnostic : failure.diagnostics)
        all += render(diagnostic, {});
    return all;
}

RunRequest request() {
    RunRequest run;
    run.image = "sha256:abc";
    run.name = container_name("r1", "cell");
    run.run_id = "r1";
    run.arguments = {"run", "--run", "r1", "--cell", "cell"};
    return run;
}

}  // namespace

TEST_CASE("engine: a client with BuildKit built in and a daemon is chosen, and says why") {
    const fakes::FakeDocker fake;
    const auto engine = choose_only(fake);
    REQUIRE(engine.ok());
    CHECK(engine->name() == "docker");
    CHECK(engine->program == fake.client());
    CHECK(engine->version == "client 20.10.24+dfsg1, server 20.10.24");
    CHECK(engine->why == fake.client() + ", client 20.10.24+dfsg1, server 20.10.24");
    CHECK(engine->environment.at("DOCKER_BUILDKIT") == "1");
}

TEST_CASE("engine: auto prefers docker where it works") {
    const fakes::FakeDocker fake;
    const auto engine = choose_only(fake, "auto");
    REQUIRE(engine.ok());
    CHECK(engine->name() == "docker");
}

TEST_CASE("engine: a newer client without buildx is passed over for one that can build") {
    fakes::FakeDocker fake;
    fake.environment["FAKE_DOCKER_VERSION"] = "28.2.2";
    auto engine = choose_only(fake);
    REQUIRE_FALSE(engine.ok());
    CHECK(everything(engine.failure())
              .find("client 28.2.2 cannot use BuildKit: its buildx plugin is missing") != std::string::npos);
    SUBCASE("the plugin makes it good") {
        fake.environment["FAKE_DOCKER_BUILDX"] = "1";
        CHECK(choose_only(fake).ok());
    }
    SUBCASE("a fallback client is tried after those on PATH") {
        // This one answers with a version of its own: a wrapper around the fake.
        const auto inner = fake.install("docker", "other");
        fake.script("older", "FAKE_DOCKER_VERSION=20.10.24 exec " + inner + " \"$@\"");
        const auto older = (fake.root() / "bin" / "older").string();
        const auto second = choose("docker", fake.environment, nullptr, {older});
        REQUIRE(second.ok());
        CHECK(second->program == older);
        CHECK(second->why.find("(not " + fake.client() + ": client 28.2.2 cannot use BuildKit") !=
              std::string::npos);
    }
}

TEST_CASE("engine: what does not work is an environment failure that says what is missing and the fix") {
    fakes::FakeDocker fake;
    const char* expected = "";
    SUBCASE("daemon down") {
        fake.faults("daemon_down");
        expected = "its daemon does not answer (Cannot connect to the Docker daemon";
    }
    SUBCASE("garbled answer") {
        fake.faults("version_garbled");
        expected = "its daemon does not answer (exit code 0)";
    }
    SUBCASE("no version") {
        fake.environment["FAKE_DOCKER_VERSION"] = "nonsense";
        expected = "it does not tell its version";
    }
    SUBCASE("no program") {
        std::filesystem::remove(fake.client());
        expected = "engine docker: no program docker on PATH";
    }
    const auto engine = choose_only(fake);
    REQUIRE_FALSE(engine.ok());
    CHECK(engine.failure().code == ExitCode::environment);
    CHECK(everything(engine.failure()).find(expected) != std::string::npos);
    CHECK(everything(engine.failure()).find("fix: ") != std::string::npos);
}

TEST_CASE("engine: an engine that does not exist is wrong usage") {
    const fakes::FakeDocker fake;
    const auto engine = choose_only(fake, "podmn");
    REQUIRE_FALSE(engine.ok());
    CHECK(engine.failure().code == ExitCode::bad_input);
    CHECK(everything(engine.failure()) ==
          "cudamatrix: error: there is no engine podmn\n  fix: auto, docker, host\n");
}

TEST_CASE("engine: auto without docker takes the host's nvcc and says what was missing") {
    fakes::FakeDocker fake;
    std::filesystem::remove(fake.client());
    const auto nvcc = fake.root() / "bin" / "nvcc";
    fake.script("nvcc",
                "echo 'nvcc: NVIDIA (R) Cuda compiler driver'\necho 'Cuda compilation tools, release 12.4, "
                "V12.4.131'");
    const auto engine = choose_only(fake, "auto");
    REQUIRE(engine.ok());
    CHECK(engine->name() == "host");
    CHECK_FALSE(engine->containers());
    CHECK(engine->version == "12.4.131");
    CHECK(engine->why ==
          nvcc.string() + ", nvcc 12.4.131 (no container engine: engine docker: no program docker on PATH)");
}

TEST_CASE("engine: a host compiler that does not tell its version is refused") {
    fakes::FakeDocker fake;
    const auto nvcc = fake.root() / "bin" / "nvcc";
    fake.script("nvcc", "echo broken");
    const auto engine = choose_only(fake, "host");
    REQUIRE_FALSE(engine.ok());
    CHECK(engine.failure().diagnostics.front().message ==
          "engine host: " + nvcc.string() + " does not tell its version (exit code 0)");
}

TEST_CASE("engine: inspect tells an image, its absence, and a daemon that does not answer apart") {
    fakes::FakeDocker fake;
    auto engine = choose_only(fake);
    REQUIRE(engine.ok());
    std::ofstream(fake.state() / "images.json")
        << R"({"a:b": {"Id": "sha256:11", "Size": 42, "Config": {"Labels": {"io.cudamatrix.inputs": "x", "n": 5}}}})";
    const auto found = inspect(*engine, "a:b", nullptr);
    REQUIRE(found.ok());
    REQUIRE(found->has_value());
    CHECK((*found)->id == "sha256:11");
    CHECK((*found)->bytes == 42);
    CHECK((*found)->labels.at("io.cudamatrix.inputs") == "x");
    CHECK((*found)->labels.size() == 1);

    const auto absent = inspect(*engine, "a:c", nullptr);
    REQUIRE(absent.ok());
    CHECK_FALSE(absent->has_value());

    engine->environment["FAKE_DOCKER_FAULTS"] = "inspect_garbled";
    CHECK_FALSE(inspect(*engine, "a:b", nullptr).ok());
    engine->environment["FAKE_DOCKER_FAULTS"] = "daemon_dies";
    const auto dead = inspect(*engine, "a:b", nullptr);
    REQUIRE_FALSE(dead.ok());
    CHECK(dead.failure().code == ExitCode::environment);
}

TEST_CASE("engine: a container that ends by itself is left alone, its exit code comes back") {
    fakes::FakeDocker fake;
    const auto engine = choose_only(fake);
    REQUIRE(engine.ok());
    const auto outcome = run_container(*engine, request(), {}, nullptr);
    REQUIRE(outcome.ok());
    CHECK(outcome->exit_code == 4);
    CHECK(fake.containers().empty());
    CHECK(fake.calls("rm").empty());
}

TEST_CASE("engine: a container whose client dies, hangs, floods or is interrupted is removed") {
    fakes::FakeDocker fake;
    Cancellation cancellation;
    RunLimits limits;
    limits.time = 800ms;
    std::thread interrupter;
    Ended expected = Ended::timed_out;
    SUBCASE("hangs and ignores SIGTERM") {
        fake.faults("run_hangs");
    }
    SUBCASE("floods") {
        fake.faults("run_floods");
        limits.output = 100'000;
        limits.time = 20s;
        expected = Ended::flooded;
    }
    SUBCASE("client killed") {
        fake.faults("run_dies");
        limits.time = 20s;
        expected = Ended::signalled;
    }
    SUBCASE("interrupted") {
        fake.faults("run_hangs");
        limits.time = 20s;
        expected = Ended::cancelled;
        interrupter = std::thread([&] {
            std::this_thread::sleep_for(400ms);
            cancellation.request();
        });
    }
    SUBCASE("even when stop and kill hang too") {
        fake.faults("run_hangs,stop_hangs");
    }
    const auto engine = choose_only(fake);
    REQUIRE(engine.ok());
    const auto start = std::chrono::steady_clock::now();
    const auto outcome = run_container(*engine, request(), limits, &cancellation);
    if (interrupter.joinable()) interrupter.join();
    REQUIRE(outcome.ok());
    CHECK(outcome->how == expected);
    CHECK(fake.containers().empty());
    CHECK(std::chrono::steady_clock::now() - start < 120s);  // what hangs does so for 600 s
}

TEST_CASE("engine: the sweep removes this run's containers and no other's") {
    fakes::FakeDocker fake;
    const auto engine = choose_only(fake);
    REQUIRE(engine.ok());
    std::filesystem::create_directories(fake.state() / "containers");
    std::ofstream(fake.state() / "containers" / "mine") << "io.cudamatrix.run=r1";
    std::ofstream(fake.state() / "containers" / "other") << "io.cudamatrix.run=r2";
    sweep(*engine, "r1");
    CHECK(fake.containers() == std::vector<std::string>{"other"});
}

TEST_CASE("engine: a failing or hanging nvidia-smi is no GPU, with a note") {
    const fakes::FakeDocker fake;
    fake.script("nvidia-smi", "echo 'Driver/library version mismatch'; exit 18");
    const auto gpus = find_gpus(fake.environment, nullptr);
    CHECK(gpus.list.empty());
    CHECK(gpus.note == "nvidia-smi: exit code 18: Driver/library version mismatch");
}
