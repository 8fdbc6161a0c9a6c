// What the suite's tests say, engines, disks, the network, and torch in environments.
#include <future>

#include "fakes/fake_docker.hpp"
#include "fakes/http_server.hpp"
#include "unit/run/doctor/made.hpp"

using namespace cudamatrix;
using test::Made;
using test::Says;

namespace {

constexpr std::string_view kQuery =
    R"({"id": "dev.query", "status": "pass", "summary": "2 GPUs", "evidence": {"gpus": [)"
    R"({"name": "NVIDIA H100 80GB HBM3", "cc": "9.0", "memory_bytes": 85520809984},)"
    R"({"name": "NVIDIA A100 MIG 1g.5gb", "cc": "8.0", "memory_bytes": "much"}]}})";

// As torch's own build writes it.
std::string version_file(std::string_view release, std::string_view cuda) {
    return fmt::format(
        "from typing import Optional\n__all__ = ['__version__', 'cuda']\n__version__ = '{}'\n"
        "debug = False\ncuda: Optional[str] = {}\nhip: Optional[str] = None\n",
        release, cuda);
}

const std::string kPackages = ".venv/lib/python3.12/site-packages";

Made& add_torch(Made& made, std::string_view release, std::string_view cuda = "'12.4'") {
    return made.with(kPackages + "/torch/version.py", version_file(release, cuda));
}

// nvidia-smi of a machine with one GPU.
Made& add_gpu(Made& made, std::string_view name, std::string_view compute, std::string_view driver) {
    made.with("bin/nvidia-smi",
              fmt::format("#!/bin/sh\ncase \"$1\" in *compute_cap*) echo '0, {}, {}, {}' ;; esac\n", name,
                          compute, driver))
        .variable("PATH", made.at("bin"));
    std::filesystem::permissions(made.at("bin/nvidia-smi"), std::filesystem::perms::owner_all);
    return made;
}

}  // namespace

TEST_CASE("doctor: an answer of the suite is a line") {
    const auto says = [](std::string_view record) { return Made().suite(record).says("cuda-driver"); };
    CHECK(says(R"({"id": "dev.driver", "status": "pass", "summary": "driver 1, CUDA 2"})") ==
          Says{"ok: driver 1, CUDA 2 |  | "});
    CHECK(says(R"({"id": "dev.driver", "status": "fail", "summary": "cuInit 804", "hint": "do x"})") ==
          Says{"fail: cuInit 804 | do x | cudamatrix kernels show dev.driver"});
    CHECK(says(R"({"id": "dev.driver", "status": "skip", "summary": "none\u001b[1m"})") ==
          Says{"skipped: none?[1m |  | "});
    CHECK(says(R"({"id": "dev.driver", "status": "error", "summary": "x"})") == Says{"warn: x |  | "});
    CHECK(says(R"({"id": "dev.driver", "status": 7})").front().starts_with("warn: "));
}

TEST_CASE("doctor: a driver that gives no answer is a failure where there is one") {
    CHECK(Made().silent_suite("no answer within 3 s").says("cuda-driver") ==
          Says{"skipped: libcuda was not asked: no answer within 3 s |  | "});
    CHECK(Made().module().silent_suite("killed by signal 11").says("cuda-driver") ==
          Says{"fail: libcuda was not asked: killed by signal 11 | sudo dmesg | grep -i nvrm | "});
    CHECK(Made().module().silent_suite("a static program cannot").says("cuda-driver") ==
          Says{"skipped: libcuda was not asked: a static program cannot |  | "});
}

TEST_CASE("doctor: GPUs that only libcuda shows") {
    CHECK(Made().suite(kQuery).says("gpu") ==
          Says{"ok: NVIDIA H100 80GB HBM3, compute 9.0, 81559 MiB from libcuda |  | ",
               "ok: NVIDIA A100 MIG 1g.5gb, compute 8.0, MIG on from libcuda |  | "});
    Made told;
    CHECK(add_gpu(told, "Tesla T4", "7.5", "550.54.15").suite(kQuery).says("gpu") ==
          Says{"ok: Tesla T4, compute 7.5 from nvidia-smi |  | "});
    for (const char* evidence : {R"({})", R"({"gpus": 1})", R"({"gpus": []})"}) {
        CAPTURE(evidence);
        Made none;
        none.suite(fmt::format(R"({{"id": "dev.query", "status": "pass", "evidence": {}}})", evidence));
        CHECK_FALSE(none.says("gpu").front().starts_with("ok"));
    }
}

TEST_CASE("doctor: variables that change how CUDA works") {
    CHECK(Made()
              .suite(R"({"id": "env.vars", "status": "pass", "checks": [{"name": "x", "ok": true}]})")
              .says("environment") == Says{"ok: no variable that changes how CUDA works is set |  | "});
    CHECK(
        Made()
            .suite(
                R"({"id": "env.vars", "status": "fail", "checks": [{"note": "A='1' hides", "ok": false},)"
                R"({"note": "LD_LIBRARY_PATH='/stubs' puts", "ok": false}], "evidence": {"warnings": ["B='2' slows", 3]}})")
            .says("environment") == Says{"fail: A='1' hides | unset A | cudamatrix kernels show env.vars",
                                         "warn: B='2' slows | unset B | cudamatrix kernels show env.vars"});
    CHECK(Made().says("environment") == Says{"skipped: the suite's test of variables was not run |  | "});
}

TEST_CASE("doctor: room for an image with torch") {
    Made made;
    const auto says = [&](std::optional<doctor::Space> space) {
        return text::replace_all(made.space(space).says("disk").front(), made.at(""), "DIR/");
    };
    CHECK(says({{0, 12'000'000'000}}).starts_with("ok: 12.0 GB free in "));
    CHECK(
        says({{0, 11'999'999'999}})
            .ends_with(
                ", for the output of this folder: one image with torch needs about 12.0 GB | cudamatrix clean "
                "--images, docker builder prune, or another disk | "));
    CHECK(says({}).starts_with("skipped: "));
}

TEST_CASE("doctor: registries, the index and the clock") {
    fakes::HttpServer server;
    server.put("v2/index.html", "{}");
    server.put("simple/index.html", "links");
    CHECK(Made().says("network") == Says{"skipped: not asked (--offline) |  | "});
    const auto lines = Made().online({server.host(), "127.0.0.1:9"}, server.url("simple")).says("network");
    REQUIRE(lines.size() == 3);
    CHECK(lines[0] == fmt::format("ok: {} answers |  | ", server.host()));
    CHECK(lines[1].starts_with("warn: 127.0.0.1:9 is not reached: http://127.0.0.1:9/v2/: "));
    CHECK(lines[2] == "ok: the index that pip asks answers |  | ");
    const auto clock = [&](long ahead) {
        return Made().online({server.host()}, server.url("simple"), ahead).says("clock").front();
    };
    CHECK(clock(0) == "ok: agrees with those of servers |  | ");
    CHECK(clock(-60) == "ok: agrees with those of servers |  | ");
    CHECK(clock(86'400).starts_with("fail: this machine's clock is 86"));
    CHECK(clock(-86'400).find(" s behind: certificates") != std::string::npos);
    CHECK(Made().online({}, "http://127.0.0.1:9/simple").says("clock").front() ==
          "skipped: nobody who answers tells the time |  | ");
}

TEST_CASE("doctor: engines, and a GPU in a container of theirs") {
    CHECK(Made().says("engine") ==
          Says{"skipped: not on PATH: docker, podman, buildah |  | ",
               "warn: no engine answers: images can be rendered, not built | install docker or podman | "});
    fakes::FakeDocker docker;
    Made made;
    for (const auto& [name, value] : docker.environment)
        made.variable(name, value);
    const auto lines = made.says("engine");
    REQUIRE(lines.size() >= 3);
    CHECK(lines[0].starts_with("ok: docker "));
    CHECK(lines[1] == "skipped: a GPU in a container of docker: not tried, for no GPU is known here |  | ");
    const auto with_gpu = made.suite(kQuery).says("engine");
    CHECK(
        with_gpu[1] ==
        "skipped: a GPU in a container of docker: not tried, for no image of ours is there | cudamatrix doctor "
        "--image NAME with a local image (nothing is pulled) | ");
}

TEST_CASE("doctor: docker without root, and a toolkit that would set up cgroups") {
    fakes::FakeDocker docker;
    const auto says = [&](const std::string& security, std::string_view toolkit) {
        Made made;
        for (const auto& [name, value] : docker.environment)
            made.variable(name, value);
        made.variable("FAKE_DOCKER_SECURITY", security);
        return made.with("etc/nvidia-container-runtime/config.toml", toolkit).says("engine")[1];
    };
    const std::string warned =
        "warn: docker runs without root: the toolkit must leave cgroups alone | sudo nvidia-ctk config --set "
        "nvidia-container-cli.no-cgroups --in-place | "
        "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html";
    const std::string rootless = "[name=seccomp,profile=builtin name=rootless name=cgroupns]";
    CHECK(says(rootless, "") == warned);
    CHECK(says(rootless, "no-cgroups = false\n") == warned);
    CHECK(says(rootless, "no-cgroups = true\n").starts_with("skipped: a GPU in a container of docker"));
    CHECK(says("[name=seccomp,profile=rootless]", "").starts_with("skipped: a GPU in a container of docker"));
}

TEST_CASE("doctor: a GPU is tried in a local image") {
    fakes::FakeDocker docker;
    std::filesystem::rename(docker.client(), docker.client() + "-real");
    const auto says = [&](const std::string& answer) {
        test::put_file(docker.client(), fmt::format("#!/bin/sh\ncase \"$*\" in *nvidia-smi*) {} ;; esac\n"
                                                    "exec \"$0-real\" \"$@\"\n",
                                                    answer));
        std::filesystem::permissions(docker.client(), std::filesystem::perms::owner_all);
        Made made;
        for (const auto& [name, value] : docker.environment)
            made.variable(name, value);
        made.suite(kQuery).image("mine:1");
        return made.says("engine")[1];
    };
    CHECK(says("echo 'GPU 0: Tesla T4 (UUID: GPU-1)'; echo 'GPU 1: x'; exit 0") ==
          "ok: a GPU in a container of docker: GPU 0: Tesla T4 (UUID: GPU-1) |  | ");
    const std::string fix =
        " | sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker | "
        "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html";
    CHECK(
        says("echo 'docker: Error response from daemon: could not select device driver' >&2; exit 125") ==
        "fail: a GPU in a container of docker: docker: Error response from daemon: could not select device driver" +
            fix);
    CHECK(says("echo 'No devices were found'; exit 0") ==
          "fail: a GPU in a container of docker: No devices were found" + fix);
    CHECK(says("exit 6") == "fail: a GPU in a container of docker: exit code 6" + fix);
}

TEST_CASE("doctor: torch without a GPU to judge it on") {
    const auto said_by = [](const Made& made) {
        return text::replace_all(made.says("python").front(), made.at(kPackages), "PACKAGES");
    };
    const auto says = [&](std::string_view release, std::string_view cuda = "'12.4'") {
        Made made;
        return said_by(add_torch(made, release, cuda));
    };
    CHECK(Made().says("python") == Says{"skipped: no environment with torch was found |  | "});
    CHECK(says("2.6.0+cu124") ==
          "ok: torch 2.6.0+cu124 in PACKAGES fits its python; there is no GPU to judge it on |  | ");
    CHECK(says("2.6.0").starts_with("ok: torch 2.6.0+cu124 in "));
    CHECK(says("2.6.0", "None").starts_with("ok: torch 2.6.0+cpu in "));
    CHECK(says("\x1b[31m").starts_with("skipped: torch ?[31m"));
    CHECK(says("9.9.9+cu124").starts_with("warn: PACKAGES: "));
    Made empty;
    empty.with(kPackages + "/torch/version.py", "git_version = 'x'\n").with(kPackages + "/torch.py");
    CHECK(said_by(empty) == "skipped: no environment with torch was found |  | ");
    Made elsewhere;
    elsewhere
        .with("home/miniconda3/envs/a/lib/python3.11/site-packages/torch/version.py",
              version_file("2.6.0+cu124", "'12.4'"))
        .variable("HOME", elsewhere.at("home"));
    CHECK(elsewhere.says("python").size() == 1);
    CHECK(elsewhere.says("python").front().starts_with("ok: "));
}

TEST_CASE("doctor: what torch would do here is judged by the rules") {
    Made made;
    add_torch(made, "2.6.0+cu124");
    add_gpu(made, "NVIDIA GeForce RTX 5090", "12.0", "580.95.05");
    made.with(kPackages + "/torchvision-0.20.0+cu124.dist-info/METADATA")
        .with(kPackages +
              "/flash_attn-2.8.3.dist-info/METADATA")  // built from source is installed all the same
        .with(kPackages + "/unheard_of-1.dist-info/METADATA");
    std::string all;
    for (const auto& line : made.says("python"))
        all += text::replace_all(line, made.at(kPackages), "PACKAGES") + "\n";
    CHECK(
        all ==
        "fail: PACKAGES: torchvision 0.20.0+cu124 needs torch 2.5.0, not torch 2.6.0: that goes with torchvision 0.21.0 | "
        "torchvision 0.21.0+cu124, or torch 2.5.0+cu124 | cudamatrix rules show companions-match-torch\n"
        "fail: PACKAGES: torch 2.6.0+cu124 has no code for GeForce RTX 5090 (compute 12.0): its SASS is for 5.0, 6.0, 7.0, 7.5, 8.0, 8.6, 9.0, and it has no PTX | "
        "torch 2.7.0+cu128 | cudamatrix rules show torch-ships-compute\n"
        "fail: PACKAGES: torch.compile of torch 2.6.0+cu124 does not work on GeForce RTX 5090 (compute 12.0): the ptxas in its triton 3.2.0 does not know compute 12.0 (TRITON_PTXAS_PATH may name a newer one) | "
        "torch 2.7.0+cu126 | cudamatrix rules show triton-supports-gpu\n");
    Made fits;
    add_torch(fits, "2.6.0+cu124");
    add_gpu(fits, "Tesla T4", "7.5", "580.95.05");
    CHECK(text::replace_all(fits.says("python").front(), fits.at(kPackages), "PACKAGES") ==
          "ok: torch 2.6.0+cu124 in PACKAGES works here, by the rules |  | ");
}

TEST_CASE("doctor: a probe that does not answer is left behind") {
    test::TempFolder empty;
    auto subject = std::make_shared<doctor::Subject>(
        doctor::Subject{{.environment = {{"PATH", (empty / "bin").string()}}, .root = empty.path()},
                        Facts::embedded(),
                        "2026-11-28",
                        empty.path().string(),
                        {}});
    subject->limit = std::chrono::seconds(5);  // for all the others
    subject->suite = [](const probe::Machine&) { return doctor::SuiteAnswers{}; };
    std::promise<void> over;
    subject->space =
        [wait = over.get_future().share()](const std::filesystem::path&) -> std::optional<doctor::Space> {
        wait.wait();
        return std::nullopt;
    };
    const auto examined = doctor::examine(subject);
    over.set_value();
    Says late;
    for (const auto& line : examined.lines) {
        if (line.found == "no answer within 5 s") late.push_back(line.probe);
    }
    CHECK(late == Says{"disk", "shared-memory"});
    CHECK(examined.lines.size() > late.size());
}
