// Which cells the main job attempts, where they run, and what builds carry.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.hpp"
#include "unit/run/job/session_world.hpp"

using namespace cudamatrix;
using namespace cudamatrix::session_world;

TEST_CASE("session: rejected cells are skipped and counted, and change the exit code only with --strict") {
    World world(R"(version: 1
name: mixed
axes:
  driver: ["390.157", "550.54.15"]
  gpu: [T4]
  cuda: ["11.8.0"]
  os: debian12
)");
    const auto report = world.ran();
    CHECK(report.exit_code == 4);
    REQUIRE(report.cells.size() == 2);
    CHECK(report.cells[0].outcome == CellOutcome::skipped);
    CHECK_FALSE(report.cells[0].reason.empty());
    CHECK_FALSE(report.cells[0].findings.empty());
    world.settings.strict = true;
    CHECK(world.ran().exit_code == 1);
}

TEST_CASE("session: a command that attempted no cell exits 1 without looking for an engine") {
    World world(R"(version: 1
name: none
axes: {driver: ["390.157"], gpu: [T4], cuda: ["11.8.0"], os: debian12}
)");
    world.fake.faults("daemon_down");
    const auto report = world.run();
    REQUIRE(report.ok());
    CHECK(report->exit_code == 1);
    CHECK(world.fake.calls().empty());
    CHECK_FALSE(world.lock().ok());
}

TEST_CASE("session: --require-gpu turns exit 4 into 1") {
    World world;
    world.settings.require_gpu = true;
    CHECK(world.ran().exit_code == 1);
}

TEST_CASE(
    "session: on a machine with the cell's GPU and driver its kernels run there, the other cell stays "
    "static") {
    World world;
    world.fake.script("nvidia-smi", "echo '0, NVIDIA H100 PCIe, 9.0, 550.54.15'");
    world.fake.script("nvidia-container-runtime", "exit 0");
    const auto report = world.ran();
    CHECK(report.gpu);
    CHECK(report.exit_code == 4);
    CHECK(report.cells[0].outcome == CellOutcome::passed_without_gpu);
    CHECK(report.cells[0].reason ==
          "not run on this machine's GPU: its compute capability is 9.0 (NVIDIA H100 PCIe), the cell's 7.5");
    CHECK(report.cells[1].outcome == CellOutcome::passed);
    CHECK(report.cells[1].proof == Proof::ran);
    std::size_t with_gpu = 0;
    for (const auto& call : world.fake.calls("run")) {
        with_gpu += static_cast<std::size_t>(std::count(call.begin(), call.end(), "--gpus"));
    }
    CHECK(with_gpu == 1);
}

TEST_CASE("session: of several GPUs that fit, each is given cells") {
    World world(text::replace_all(kTwoCells, "[T4, H100]", "[H100, H100 PCIe]"));
    world.fake.script(
        "nvidia-smi",
        "echo '0, NVIDIA H100 PCIe, 9.0, 550.54.15'\necho '1, NVIDIA H100 PCIe, 9.0, 550.54.15'");
    world.fake.script("nvidia-container-runtime", "exit 0");
    const auto report = world.ran();
    std::vector<std::string> given;
    for (const auto& call : world.fake.calls("run")) {
        for (std::size_t i = 0; i + 1 < call.size(); ++i) {
            if (call[i] == "--gpus") given.push_back(call[i + 1]);
        }
    }
    std::ranges::sort(given);
    CHECK(given == std::vector<std::string>{"device=0", "device=1"});
}

TEST_CASE("session: a GPU that the engine cannot hand to a container is no GPU, and that is said") {
    World world;
    world.fake.script("nvidia-smi", "echo '0, NVIDIA H100 PCIe, 9.0, 550.54.15'");
    const auto report = world.ran();
    CHECK_FALSE(report.gpu);
    CHECK(world.progress.find("install nvidia-container-toolkit") != std::string::npos);
}

TEST_CASE("session: podman and buildah pin, build and prove as docker does") {
    for (const std::string name : {"podman", "buildah"}) {
        World world;
        for (const auto* program : {"podman", "buildah"})
            world.fake.install(program);
        std::filesystem::remove(world.fake.client());
        world.settings.engine = name;
        const auto report = world.ran();
        CHECK(report.engine == name);
        CHECK(report.exit_code == 4);
        for (const auto& cell : report.cells)
            CHECK(cell.outcome == CellOutcome::passed_without_gpu);
        const auto built = world.fake.calls("build");
        REQUIRE(built.size() == 3);  // the lock's answer, runtime and proof
        for (const auto& call : built)
            CHECK(std::count(call.begin(), call.end(), "--layers") == (name == "buildah" ? 1 : 0));
        CHECK(world.ran().images.front().reused);
    }
}

namespace {

// A world whose only engine is podman, locked.
void take_podman(World& world) {
    world.fake.install("podman");
    std::filesystem::remove(world.fake.client());
    world.settings.engine = "podman";
    REQUIRE(world.lock().ok());
}

// The stages that were built by themselves, sorted.
std::vector<std::string> stages_built(const World& world) {
    std::vector<std::string> out;
    for (const auto& call : world.fake.calls("build")) {
        const auto target = std::ranges::find(call, "--target");
        if (target != call.end() && *(target + 1) != "lock") out.push_back(*(target + 1));
    }
    std::ranges::sort(out);
    return out;
}

}  // namespace

TEST_CASE("session: an image and its proof are made one after the other and need no shared stage") {
    World world{std::string(kTwoCells)};
    take_podman(world);
    world.settings.jobs = 2;
    CHECK(world.ran().exit_code == 4);
    CHECK(stages_built(world).empty());
}

TEST_CASE("session: what builds that run side by side share is made once, before them") {
    World world(std::string(kTwoCells) +
                "images:\n"
                "  - {name: a, env: {MODE: a}}\n"
                "  - {name: b, env: {MODE: b}}\n");
    take_podman(world);
    SUBCASE("one after the other they take it from the engine's cache") {
        CHECK(world.ran().exit_code == 4);
        CHECK(stages_built(world).empty());
    }
    SUBCASE("side by side") {
        world.settings.jobs = 2;
        const auto report = world.ran();
        CAPTURE(world.progress);
        CHECK(report.exit_code == 4);
        const auto made = stages_built(world);
        CHECK_FALSE(made.empty());
        CHECK(std::ranges::adjacent_find(made) == made.end());
        CHECK(world.progress.find("[stage 1/") != std::string::npos);
        CHECK(world.progress.find(" of 2 builds") != std::string::npos);
    }
    SUBCASE("what fails there fails all of them, with its log") {
        world.settings.jobs = 2;
        world.fake.faults("stage_fails");
        const auto report = world.ran();
        CHECK(report.exit_code == 1);
        for (const auto& image : report.images) {
            CHECK(image.error.starts_with("shared stage "));
            CHECK(fs::exists(world.settings.out / image.log));
        }
        CHECK(world.fake.calls("run").empty());
    }
}

TEST_CASE("session: another machine's engine has neither this machine's GPUs nor its disk") {
    World world;
    world.settings.engine_host = "ssh://box";
    world.settings.disk_bytes = 1ull << 60;
    world.fake.script("nvidia-container-runtime", "");
    world.fake.script("nvidia-smi", "echo '0, Tesla T4, 7.5, 550.54.15'");
    const auto report = world.ran();
    CHECK_FALSE(report.gpu);
    CHECK(report.exit_code == 4);
    CHECK(world.progress.find("no GPU: the engine is on another machine, whose GPUs are not known here") !=
          std::string::npos);
    CHECK(world.progress.find("free disk of the engine is not checked") != std::string::npos);
}

TEST_CASE("session: a builder that was named builds the runtime, and the engine's own the proof") {
    World world;
    world.settings.builder = "farm";
    world.fake.environment["FAKE_DOCKER_BUILDX"] = "1";
    world.fake.environment["FAKE_DOCKER_BUILDERS"] = "farm";
    CHECK(world.ran().exit_code == 4);
    std::vector<std::string> by;
    for (const auto& call : world.fake.calls("buildx")) {
        if (call[1] == "build") by.push_back(call[3]);
    }
    CHECK(by == std::vector<std::string>{"farm", "farm", "default"});  // lock, runtime, proof
}

TEST_CASE("session: a podman that works through a service cannot pin, and says what can") {
    World world;
    world.fake.install("podman");
    world.settings.engine = "podman";
    world.fake.environment["FAKE_PODMAN_SERVICE"] = "1";
    const auto report = world.ran();
    CHECK(report.exit_code == 3);
    REQUIRE(report.images.size() == 1);
    CHECK(report.images[0].not_run);
    CHECK(report.images[0].error ==
          "not run: debian12-cu11.8.0: engine podman works through a service here, and such builds write no "
          "files out");
    CHECK(world.fake.calls("build").empty());
}

TEST_CASE("session: engine host builds and runs the suite of those cells whose toolkit this machine has") {
    World world(R"(version: 1
name: host
axes:
  driver: ["550.54.15"]
  gpu: [T4]
  cuda: ["11.8.0", "12.4.1"]
)");
    world.settings.engine = "host";
    world.fake.script("nvcc", "echo 'Cuda compilation tools, release 12.4, V12.4.131'");
    // g++ -o TOOL: a suite_build that makes --out DIR/bin/suite, which answers as the suite does.
    world.fake.script("suite_build",
                      "while [ \"$1\" != --out ]; do shift; done\nmkdir -p \"$2/bin\"\n"
                      "{ echo '#!/bin/sh'; echo 'exec " +
                          world.fake.client() +
                          " suite \"$@\"'; } > \"$2/bin/suite\"\n"
                          "chmod +x \"$2/bin/suite\"; echo \"$*\" > \"$2/asked\"");
    world.fake.script("g++", "while [ \"$1\" != -o ]; do shift; done\ncat '" +
                                 (world.folder() / "bin" / "suite_build").string() +
                                 "' > \"$2\"; chmod +x \"$2\"");
    const auto report = world.ran();
    CHECK(report.exit_code == 4);
    CHECK(report.engine == "host");
    CHECK(report.images.empty());
    REQUIRE(report.cells.size() == 2);
    CHECK(report.cells[0].outcome == CellOutcome::skipped);
    CHECK(report.cells[0].reason ==
          "engine host: the cell's CUDA is 11.8.0, this machine's nvcc is 12.4.131");
    CHECK(report.cells[1].outcome == CellOutcome::passed_without_gpu);
    CHECK(report.cells[1].proof == Proof::interpreted);
    CHECK(world.fake.calls("build").empty());
    CHECK_FALSE(world.lock().ok());
    static_cast<void>(world.ran());
    CHECK(world.progress.find("the suite is up to date, reused") != std::string::npos);
}

TEST_CASE("session: engine host without a compiler that works makes its cells errored") {
    World world;
    world.settings.engine = "host";
    world.fake.script("nvcc", "echo 'Cuda compilation tools, release 11.8, V11.8.89'");
    world.fake.script("g++", "echo 'fatal error: no such thing' >&2; exit 1");
    const auto report = world.ran();
    CHECK(report.exit_code == 1);
    CHECK(report.cells[0].outcome == CellOutcome::errored);
    CHECK(report.cells[0].reason == "suite_build: exit code 1: fatal error: no such thing");
}

TEST_CASE(
    "session: a lock request goes out without the cache, on the engine's own network, with the site's bundle") {
    World world(std::string(kTwoCells) + "build: {ca_bundle: /etc/ssl/site.pem}\n");
    REQUIRE(world.lock().ok());
    const auto calls = world.fake.calls("build");
    REQUIRE(calls.size() == 1);
    const auto line = text::join(calls[0], " ");
    CHECK(line.find("--target lock --secret id=ca,src=/etc/ssl/site.pem") != std::string::npos);
    CHECK(line.find("--network") == std::string::npos);
    CHECK(line.find("--no-cache") != std::string::npos);
}

TEST_CASE("session: proxies reach the steps of every build, their values no argument vector") {
    World world;
    world.fake.environment["https_proxy"] = "http://user:word@proxy.example.org:3128";
    world.fake.environment["NO_PROXY"] = "localhost";
    world.fake.environment["http_proxy"] = "";
    static_cast<void>(world.ran());
    const auto calls = world.fake.calls("build");
    REQUIRE(calls.size() >= 3);
    for (const auto& call : calls) {
        const auto line = text::join(call, " ");
        CHECK(line.find("--build-arg https_proxy --build-arg NO_PROXY") != std::string::npos);
        CHECK(line.find("--build-arg http_proxy") == std::string::npos);
        CHECK(line.find("proxy.example.org") == std::string::npos);
    }
}

TEST_CASE("session: builds carry the network that was chosen and no other") {
    World world;
    world.network = "host";
    static_cast<void>(world.ran());
    for (const auto& call : world.fake.calls("build")) {
        CHECK(std::count(call.begin(), call.end(), "--network") == 1);
        CHECK(*(std::find(call.begin(), call.end(), "--network") + 1) == "host");
    }
}

TEST_CASE("session: no network is said before anything is started") {
    World world;
    world.network = "none";
    CHECK(refusal(world.run(), ExitCode::bad_input) == "lock fetches packages, and its network is none");
    CHECK(world.fake.calls("build").empty());
}
