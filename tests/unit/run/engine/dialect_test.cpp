#include "run/engine/dialect.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.hpp"
#include "run/engine/engine.hpp"

using namespace cudamatrix;
using namespace cudamatrix::engine;

namespace {

const Dialect& docker() {
    return *dialect_named("docker");
}

RunRequest dialect_request() {
    RunRequest run;
    run.image = "sha256:abc";
    run.name = "cudamatrix-r1-cell";
    run.run_id = "r1";
    run.arguments = {"run", "--cell", "drv550-cu11.8.0"};
    return run;
}

bool has(const Argv& argv, const std::string& flag, const std::string& value) {
    for (std::size_t i = 0; i + 1 < argv.size(); ++i) {
        if (argv[i] == flag && argv[i + 1] == value) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("dialect: docker run is hardened, argument for argument") {
    auto run = dialect_request();
    CHECK(
        text::join(docker().run(run), " ") ==
        "run --rm --init --no-healthcheck --name cudamatrix-r1-cell --label io.cudamatrix.run=r1 --pull "
        "never --network none "
        "--read-only --tmpfs /tmp:rw,noexec,nosuid,nodev,size=512m --cap-drop ALL "
        "--security-opt no-new-privileges --pids-limit 512 --memory 4096m --memory-swap 4096m --cpus 1 --ulimit "
        "core=0 "
        "--ipc private --shm-size 64m --user 65532:65532 --workdir /tmp --log-driver none "
        "sha256:abc run --cell drv550-cu11.8.0");
}

TEST_CASE(
    "dialect: docker run with a GPU names exactly one, and entry point and variables come before the image") {
    auto run = dialect_request();
    run.gpu = 3;
    run.entrypoint = "/opt/suite";
    run.environment = {{"HOME", "/tmp"}};
    const auto argv = docker().run(run);
    CHECK(has(argv, "--gpus", "device=3"));
    CHECK(text::join(argv, " ").find("--env HOME=/tmp --entrypoint /opt/suite sha256:abc run") !=
          std::string::npos);
}

TEST_CASE("dialect: docker build carries the user's network, the secret and the labels") {
    BuildRequest build;
    build.context = "out/debian12-cu11.8.0";
    build.target = "proof";
    build.reference = "cudamatrix/quickstart:debian12-cu11.8.0-proof";
    build.network = "host";
    build.ca_bundle = "/etc/ssl/site.pem";
    build.labels = {{"io.cudamatrix.inputs", "abc"}};
    build.forwarded = {"https_proxy"};
    CHECK(text::join(docker().build(build), " ") ==
          "build --progress plain --network host --target proof --tag "
          "cudamatrix/quickstart:debian12-cu11.8.0-proof "
          "--secret id=ca,src=/etc/ssl/site.pem --label io.cudamatrix.inputs=abc --build-arg https_proxy "
          "out/debian12-cu11.8.0");
}

TEST_CASE("dialect: a build without a bundle has no secret, and an export is written to its folder") {
    BuildRequest build;
    build.context = "ctx";
    build.network = "none";
    build.target = "lock";
    build.export_to = "/out/lock";
    build.no_cache = true;
    build.platform = "linux/arm64";
    build.dockerfile = "ctx/lock.Dockerfile";
    build.forwarded = {"NO_PROXY", "http_proxy"};
    CHECK(text::join(docker().build(build), " ") ==
          "build --progress plain --platform linux/arm64 --network none --file ctx/lock.Dockerfile --target "
          "lock --build-arg NO_PROXY --build-arg http_proxy "
          "--output type=local,dest=/out/lock --no-cache ctx");
}

TEST_CASE("dialect: the short commands") {
    CHECK(text::join(docker().version(), " ") == "version --format {{json .}}");
    CHECK(text::join(docker().buildkit(), " ") == "buildx version");
    CHECK(text::join(docker().inspect("a:b"), " ") == "image inspect --format {{json .}} a:b");
    CHECK(text::join(docker().stop("n"), " ") == "stop --time 2 n");
    CHECK(text::join(docker().kill("n"), " ") == "kill n");
    CHECK(text::join(docker().remove("n"), " ") == "rm --force --volumes n");
    CHECK(text::join(docker().list("r1"), " ") ==
          "ps --all --quiet --no-trunc --filter label=io.cudamatrix.run=r1");
    CHECK(text::join(docker().import("b.tar", "base:1"), " ") == "import b.tar base:1");
    CHECK(text::join(docker().remove_image("a:b"), " ") == "image rm a:b");
    CHECK(text::join(docker().storage(), " ") == "info --format {{.DockerRootDir}}");
}

TEST_CASE(
    "dialect: audit: no container run of any engine carries a forbidden argument, every one the required") {
    std::size_t runs = 0;
    for (const auto& dialect : all_dialects()) {
        if (!dialect.containers) {
            CHECK((dialect.run == nullptr));
            CHECK((dialect.build == nullptr));
            continue;
        }
        for (const bool gpu : {false, true}) {
            for (const std::uint64_t shm : {64u, 256u}) {
                auto run = dialect_request();
                if (gpu) run.gpu = 0;
                run.shm_mib = shm;
                const auto argv = dialect.run(run);
                ++runs;
                CHECK_FALSE(forbidden_argument(argv).has_value());
                CHECK(has(argv, "--network", "none"));
                CHECK(has(argv, "--cap-drop", "ALL"));
                CHECK(has(argv, "--security-opt", "no-new-privileges"));
                CHECK(has(argv, "--pull", "never"));
                CHECK(has(argv, "--user", "65532:65532"));
                CHECK(has(argv, "--ipc", "private"));
                CHECK(std::count(argv.begin(), argv.end(), "--read-only") == 1);
                CHECK(std::count(argv.begin(), argv.end(), "--rm") == 1);
                CHECK(std::count(argv.begin(), argv.end(), "--init") == 1);
                for (const auto* flag :
                     {"--memory", "--cpus", "--pids-limit", "--tmpfs", "--name", "--label", "--log-driver"}) {
                    CHECK(std::count(argv.begin(), argv.end(), flag) == 1);
                }
                CHECK(text::join(argv, " ").find("noexec") != std::string::npos);
            }
        }
    }
    CHECK(runs == 4);
}

TEST_CASE("dialect: every forbidden argument is seen, in both spellings") {
    const std::vector<Argv> bad{
        {"run", "--privileged"},
        {"run", "--privileged=true"},
        {"run", "--cap-add", "SYS_ADMIN"},
        {"run", "--cap-add=ALL"},
        {"run", "--network", "host"},
        {"run", "--network=host"},
        {"run", "--net", "host"},
        {"run", "--network", "bridge"},
        {"run", "--pid", "host"},
        {"run", "--ipc", "host"},
        {"run", "--ipc=host"},
        {"run", "--userns", "host"},
        {"run", "--uts", "host"},
        {"run", "--cgroupns", "host"},
        {"run", "--security-opt", "seccomp=unconfined"},
        {"run", "--security-opt", "apparmor=unconfined"},
        {"run", "--volume", "/var/run/docker.sock:/var/run/docker.sock"},
        {"run", "-v", "/:/host"},
        {"run", "--mount", "type=bind,src=/proc,dst=/p"},
        {"run", "--volumes-from", "other"},
        {"run", "--device", "/dev/mem"},
        {"run", "--user", "0"},
        {"run", "--user", "root:root"},
        {"run", "--pull", "always"},
        {"run", "--gpus", "all"},
        {"run", "--publish", "80:80"},
        {"run", "--sysctl", "kernel.x=1"},
    };
    for (const auto& argv : bad) {
        INFO(text::join(argv, " "));
        CHECK(forbidden_argument(argv).has_value());
    }
}

TEST_CASE("dialect: a container's name is legal and bounded, and differs for long cells that begin alike") {
    CHECK(container_name("r1", "drv550-cu12.4.1") == "cudamatrix-r1-drv550-cu12.4.1");
    CHECK(container_name("r 1", "a/b") == "cudamatrix-r_1-a_b");
    const std::string head(150, 'x');
    const auto one = container_name("r1", head + "1");
    const auto two = container_name("r1", head + "2");
    CHECK(one.size() <= 128);
    CHECK(one != two);
}
