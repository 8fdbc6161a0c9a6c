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
    return choose({std::string(wanted), {}, {}}, fake.environment, nullptr, {});
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
        const auto second = choose({"docker", {}, {}}, fake.environment, nullptr, {older});
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
        expected =
            "engine docker: no program docker on PATH\n  fix: install it (Debian, Ubuntu: apt-get install "
            "docker.io) and start its daemon\n";
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
          "cudamatrix: error: there is no engine podmn\n  fix: auto, docker, podman, buildah, host\n");
}

TEST_CASE("engine: auto without any engine says why each does not work, and never takes the host's nvcc") {
    fakes::FakeDocker fake;
    fake.script("nvcc", "echo 'Cuda compilation tools, release 12.4, V12.4.131'");
    const std::string podman =
        "engine podman: no program podman on PATH\n  fix: install it (Debian, Ubuntu: "
        "apt-get install podman)\n";
    const std::string head =
        "cudamatrix: error: no engine works here that builds and runs images: docker and podman tried\n  fix: "
        "repair one of them, or build and test the suite with this machine's own nvcc, without images: "
        "--engine host\n";
    SUBCASE("no program") {
        std::filesystem::remove(fake.client());
        const auto engine = choose_only(fake, "auto");
        REQUIRE_FALSE(engine.ok());
        CHECK(engine.failure().code == ExitCode::environment);
        CHECK(everything(engine.failure()) ==
              head +
                  "cudamatrix: error: engine docker: no program docker on PATH\n  fix: install it (Debian, "
                  "Ubuntu: apt-get install docker.io) and start its daemon\ncudamatrix: error: " +
                  podman);
    }
    SUBCASE("neither works") {
        const auto second = fake.install("podman");
        fake.faults("daemon_down");
        const auto engine = choose_only(fake, "auto");
        REQUIRE_FALSE(engine.ok());
        CHECK(engine.failure().code == ExitCode::environment);
        CHECK(everything(engine.failure()).find(head) == 0);
        CHECK(
            everything(engine.failure())
                .find(
                    "engine podman: none of its clients works\n  note: " + second +
                    ": it does not work (Error: unable to connect to Podman socket)\n  fix: podman info has "
                    "to succeed for this user; 4.1 is the first release that can be used\n") !=
            std::string::npos);
    }
    SUBCASE("the host only where it is asked for") {
        std::filesystem::remove(fake.client());
        const auto engine = choose_only(fake, "host");
        REQUIRE(engine.ok());
        CHECK(engine->name() == "host");
        CHECK_FALSE(engine->containers());
        CHECK(engine->version == "12.4.131");
    }
}

TEST_CASE("engine: auto takes podman where docker does not work, and says why") {
    fakes::FakeDocker fake;
    const auto podman = fake.install("podman");
    fake.script("docker", "echo 'Cannot connect' >&2; exit 1");
    const auto engine = choose_only(fake, "auto");
    REQUIRE(engine.ok());
    CHECK(engine->name() == "podman");
    CHECK(engine->why == podman + ", 4.3.1 (engine docker: none of its clients works: " + fake.client() +
                             ": its daemon does not answer (Cannot connect))");
    CHECK_FALSE(engine->remote);
    CHECK(engine->exports);
    CHECK(engine->build_command({}).argv.front() == podman);
}

TEST_CASE("engine: a podman that cannot be used is refused with the reason") {
    fakes::FakeDocker fake;
    fake.install("podman");
    const char* expected = "";
    SUBCASE("too old") {
        fake.environment["FAKE_PODMAN_VERSION"] = "3.4.4";
        expected = "release 3.4.4 is too old: 4.1 is the first with the builds that are needed";
    }
    SUBCASE("no version") {
        fake.environment["FAKE_PODMAN_VERSION"] = "new";
        expected = "it does not tell its version";
    }
    SUBCASE("no storage") {
        fake.script("podman", "echo 'Error: mkdir /run/x: permission denied' >&2; exit 125");
        expected = "it does not work (Error: mkdir /run/x: permission denied)";
    }
    SUBCASE("no words") {
        fake.script("podman", "exit 125");
        expected = "it does not work (exit code 125)";
    }
    const auto engine = choose_only(fake, "podman");
    REQUIRE_FALSE(engine.ok());
    CHECK(engine.failure().code == ExitCode::environment);
    CHECK(everything(engine.failure()).find(expected) != std::string::npos);
}

TEST_CASE("engine: buildah builds and podman runs; both have to be there, on this machine") {
    fakes::FakeDocker fake;
    const auto podman = fake.install("podman");
    const auto missing = choose_only(fake, "buildah");
    REQUIRE_FALSE(missing.ok());
    CHECK(everything(missing.failure()).find(podman + ": no program buildah on PATH") != std::string::npos);
    const auto buildah = fake.install("buildah");
    const auto engine = choose_only(fake, "buildah");
    REQUIRE(engine.ok());
    CHECK(engine->why == podman + ", 4.3.1, builds by " + buildah);
    CHECK(engine->build_command({}).argv.front() == buildah);
    CHECK(engine->command({"info"}).argv == std::vector<std::string>{podman, "info"});
    SUBCASE("a buildah that does not start") {
        fake.script("buildah", "echo broken >&2; exit 1");
        const auto broken = choose_only(fake, "buildah");
        REQUIRE_FALSE(broken.ok());
        CHECK(everything(broken.failure()).find(buildah + ": broken") != std::string::npos);
    }
    SUBCASE("a podman that works through a service") {
        fake.environment["FAKE_PODMAN_SERVICE"] = "1";
        const auto refused = choose_only(fake, "buildah");
        REQUIRE_FALSE(refused.ok());
        CHECK(everything(refused.failure())
                  .find("it works through a service, where nothing that buildah builds is found") !=
              std::string::npos);
    }
}

TEST_CASE("engine: another machine's engine is reached by its own client, and its disk is not this one's") {
    fakes::FakeDocker fake;
    fake.install("podman");
    const auto at = [&](const char* name, const char* url) {
        return choose({name, url, {}}, fake.environment, nullptr, {});
    };
    const auto docker = at("docker", "ssh://me@box");
    REQUIRE(docker.ok());
    CHECK(docker->remote);
    CHECK(docker->command({"info"}).argv ==
          std::vector<std::string>{fake.client(), "--host", "ssh://me@box", "info"});
    BuildRequest build;
    build.context = "ctx";
    CHECK(text::join(docker->build_command(build).argv, " ") ==
          fake.client() + " --host ssh://me@box build --progress plain ctx");
    CHECK(docker->why == fake.client() + ", client 20.10.24+dfsg1, server 20.10.24 at ssh://me@box");
    CHECK_FALSE(storage(*docker, nullptr).has_value());
    CHECK_FALSE(at("docker", "unix:///run/docker.sock")->remote);
    CHECK(at("docker", "unix:///run/docker.sock")->why.ends_with(" at unix:///run/docker.sock"));

    fake.environment["FAKE_PODMAN_SERVICE"] = "1";
    const auto podman = at("podman", "tcp://box:1");
    REQUIRE(podman.ok());
    CHECK(podman->remote);
    CHECK_FALSE(podman->exports);
    CHECK(podman->command({"info"}).argv[1] == "--url");
    CHECK_FALSE(at("podman", "unix:///run/podman.sock")->remote);

    for (const auto* name : {"buildah", "host"}) {
        const auto refused = at(name, "ssh://box");
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.failure().code == ExitCode::bad_input);
        CHECK(everything(refused.failure()) ==
              fmt::format("cudamatrix: error: engine {} works on this machine only, and --engine-host names "
                          "another\n  fix: --engine docker or --engine podman\n",
                          name));
    }
}

TEST_CASE("engine: a variable and docker's context name another machine as well") {
    fakes::FakeDocker fake;
    fake.environment["DOCKER_HOST"] = "tcp://box:2375";
    CHECK(choose_only(fake)->remote);
    fake.environment.erase("DOCKER_HOST");
    CHECK_FALSE(choose_only(fake)->remote);
    fake.environment["FAKE_DOCKER_CONTEXT"] = "farm ssh://me@box";
    const auto engine = choose_only(fake);
    REQUIRE(engine.ok());
    CHECK(engine->remote);
    fake.environment["CONTAINER_HOST"] = "ssh://box";  // of podman, which is not asked through it here
    fake.install("podman");
    CHECK_FALSE(choose_only(fake, "podman")->remote);
    fake.environment["FAKE_PODMAN_SERVICE"] = "1";
    CHECK(choose_only(fake, "podman")->remote);
}

TEST_CASE("engine: a named builder builds what any can, and the engine's own what stands on its images") {
    fakes::FakeDocker fake;
    fake.environment["FAKE_DOCKER_BUILDX"] = "1";
    fake.environment["FAKE_DOCKER_BUILDERS"] = "farm";
    const auto with = [&](const char* name, const char* builder) {
        return choose({name, {}, builder}, fake.environment, nullptr, {});
    };
    BuildRequest runtime;
    runtime.context = "ctx";
    auto proof = runtime;
    proof.needs_store = true;
    const auto engine = with("auto", "farm");
    REQUIRE(engine.ok());
    CHECK(engine->why.ends_with(", builder farm"));
    CHECK(text::join(engine->build_command(runtime).argv, " ") ==
          fake.client() + " buildx build --builder farm --progress plain --load ctx");
    CHECK(text::join(engine->build_command(proof).argv, " ") ==
          fake.client() + " buildx build --builder default --progress plain --load ctx");
    SUBCASE("the own one is called as its context") {
        fake.environment.erase("DOCKER_HOST");
        fake.environment["FAKE_DOCKER_CONTEXT"] = "rootless unix:///run/user/1/docker.sock";
        CHECK(with("docker", "farm")->build_command(proof).argv[4] == "rootless");
    }
    SUBCASE("a client that builds by the plugin names its own builder, whatever is in use") {
        fake.environment["FAKE_DOCKER_VERSION"] = "28.2.2";
        CHECK(with("docker", "")->build_command(runtime).argv[4] == "default");
    }
    SUBCASE("there is no such builder") {
        const auto none = with("docker", "barn");
        REQUIRE_FALSE(none.ok());
        CHECK(none.failure().code == ExitCode::environment);
        CHECK(everything(none.failure())
                  .find("it has no builder barn that works (ERROR: no builder \"barn\" found)") !=
              std::string::npos);
    }
    SUBCASE("no plugin") {
        fake.environment.erase("FAKE_DOCKER_BUILDX");
        const auto none = with("docker", "farm");
        REQUIRE_FALSE(none.ok());
        CHECK(everything(none.failure())
                  .find("client 20.10.24+dfsg1 cannot use builders: its buildx plugin is missing") !=
              std::string::npos);
    }
    SUBCASE("builders are docker's") {
        const auto refused = with("podman", "farm");
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.failure().code == ExitCode::bad_input);
        CHECK(everything(refused.failure()) ==
              "cudamatrix: error: engine podman has no builders to choose from by --builder\n  fix: --engine "
              "docker\n");
    }
}

TEST_CASE("engine: podman has a GPU for a container where a CDI specification names one") {
    fakes::FakeDocker fake;
    fake.install("podman");
    CHECK_FALSE(choose_only(fake, "podman")->gpu_runtime);
    fake.script("nvidia-ctk", "echo 'INFO[0000] Found 0 CDI devices'");
    CHECK_FALSE(choose_only(fake, "podman")->gpu_runtime);
    fake.script("nvidia-ctk", "[ \"$*\" = 'cdi list' ] && echo nvidia.com/gpu=0");
    CHECK(choose_only(fake, "podman")->gpu_runtime);
    fake.script("nvidia-container-runtime", "");  // docker's way
    fake.script("nvidia-ctk", "exit 1");
    CHECK_FALSE(choose_only(fake, "podman")->gpu_runtime);
}

TEST_CASE("engine: an image of podman, and its absence") {
    fakes::FakeDocker fake;
    fake.install("podman");
    const auto engine = choose_only(fake, "podman");
    REQUIRE(engine.ok());
    const std::string id(64, 'a');
    std::ofstream(fake.state() / "images.json")
        << R"({"localhost/a:b": {"Id": "sha256:)" + id +
               R"(", "Size": 42, "Config": {"Labels": {"io.cudamatrix.inputs": "x"}}}})";
    const auto found = inspect(*engine, "a:b", nullptr);
    REQUIRE(found.ok());
    REQUIRE(found->has_value());
    CHECK((*found)->id == "sha256:" + id);
    CHECK((*found)->labels.at("io.cudamatrix.inputs") == "x");
    const auto absent = inspect(*engine, "a:c", nullptr);
    REQUIRE(absent.ok());
    CHECK_FALSE(absent->has_value());
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
