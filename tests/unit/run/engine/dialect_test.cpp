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
    run.folder = "f1";
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
    CHECK(text::join(docker().run(run), " ") ==
          "run --rm --init --no-healthcheck --name cudamatrix-r1-cell --label io.cudamatrix.run=r1 --label "
          "io.cudamatrix.folder=f1 --pull "
          "never --network none "
          "--read-only --tmpfs /tmp:rw,noexec,nosuid,nodev,size=512m --cap-drop ALL "
          "--security-opt no-new-privileges --pids-limit 512 --memory 4096m --memory-swap 4096m --cpus 1 "
          "--ipc private --shm-size 64m --user 65532:65532 --workdir /tmp --log-driver none "
          "--ulimit core=0 "
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

TEST_CASE("dialect: one of several builders gives back what it made, unless it writes files") {
    BuildRequest build;
    build.context = "ctx";
    build.network = "default";
    build.reference = "cudamatrix/m:i";
    build.builder = "farm";
    CHECK(text::join(docker().build(build), " ") ==
          "buildx build --builder farm --progress plain --load --tag cudamatrix/m:i ctx");
    build.reference.clear();
    build.export_to = "/out";
    CHECK(text::join(docker().build(build), " ") ==
          "buildx build --builder farm --progress plain --output type=local,dest=/out ctx");
}

TEST_CASE("dialect: podman run is hardened, argument for argument, and takes a GPU by CDI") {
    auto run = dialect_request();
    run.gpu = 3;
    run.environment = {{"HOME", "/tmp"}};
    run.entrypoint = "/opt/suite";
    CHECK(text::join(dialect_named("podman")->run(run), " ") ==
          "run --rm --init --no-healthcheck --name cudamatrix-r1-cell --label io.cudamatrix.run=r1 --label "
          "io.cudamatrix.folder=f1 --pull "
          "never --network none "
          "--read-only --tmpfs /tmp:rw,noexec,nosuid,nodev,size=512m --cap-drop ALL "
          "--security-opt no-new-privileges --pids-limit 512 --memory 4096m --memory-swap 4096m --cpus 1 "
          "--ipc private --shm-size 64m --user 65532:65532 --workdir /tmp --log-driver none "
          "--read-only-tmpfs=false --http-proxy=false --device nvidia.com/gpu=3 --env HOME=/tmp --entrypoint "
          "/opt/suite sha256:abc run --cell drv550-cu11.8.0");
    CHECK(dialect_named("buildah")->run(run) == dialect_named("podman")->run(run));
}

TEST_CASE("dialect: podman and buildah build in docker's format, under a name that is said in full") {
    BuildRequest build;
    build.context = "ctx";
    build.target = "runtime";
    build.reference = "cudamatrix/quickstart:debian12-cu11.8.0";
    build.network = "host";
    build.ca_bundle = "/etc/ssl/site.pem";
    build.labels = {{"io.cudamatrix.inputs", "abc"}};
    build.forwarded = {"https_proxy"};
    const std::string options =
        "--format docker --network host --target runtime --tag "
        "localhost/cudamatrix/quickstart:debian12-cu11.8.0 --secret id=ca,src=/etc/ssl/site.pem --label "
        "io.cudamatrix.inputs=abc --build-arg https_proxy ctx";
    CHECK(text::join(dialect_named("podman")->build(build), " ") == "build " + options);
    CHECK(text::join(dialect_named("buildah")->build(build), " ") == "build --layers " + options);

    BuildRequest lock;
    lock.context = "ctx";
    lock.network = "default";
    lock.target = "lock";
    lock.export_to = "/out/lock";
    lock.no_cache = true;
    CHECK(text::join(dialect_named("podman")->build(lock), " ") ==
          "build --format docker --target lock --output type=local,dest=/out/lock --no-cache ctx");
}

TEST_CASE("dialect: the short commands of podman find what it keeps under localhost") {
    const auto& podman = *dialect_named("podman");
    CHECK(text::join(podman.probe(), " ") == "info --format json");
    CHECK(text::join(podman.inspect("cudamatrix/a:b"), " ") ==
          "image inspect --format {{json .}} localhost/cudamatrix/a:b");
    CHECK(podman.inspect("localhost/a:b").back() == "localhost/a:b");
    CHECK(podman.inspect("a:b").back() == "localhost/a:b");
    CHECK(podman.inspect("registry.example.org/a:b").back() == "registry.example.org/a:b");
    CHECK(podman.inspect("127.0.0.1:5000/a:b").back() == "127.0.0.1:5000/a:b");
    CHECK(podman.inspect("sha256:abc").back() == "sha256:abc");
    CHECK(text::join(podman.remove_image("cudamatrix/a:b"), " ") == "image rm localhost/cudamatrix/a:b");
    CHECK(text::join(podman.save("cudamatrix/a:b"), " ") == "image save localhost/cudamatrix/a:b");
    CHECK(text::join(podman.storage(), " ") == "info --format {{.Store.GraphRoot}}");
    CHECK(text::join(podman.at_host("unix:///run/p.sock"), " ") == "--url unix:///run/p.sock");
    CHECK(podman.stop("n") == docker().stop("n"));
    CHECK(podman.list("k=v") == docker().list("k=v"));
    CHECK(text::join(dialect_named("buildah")->probe_builder(), " ") == "--version");
    CHECK((dialect_named("buildah")->at_host == nullptr));
    CHECK((podman.builder == nullptr));
}

TEST_CASE("dialect: the short commands") {
    CHECK(text::join(docker().probe(), " ") == "version --format {{json .}}");
    CHECK(text::join(docker().buildx(), " ") == "buildx version");
    CHECK(text::join(docker().inspect("a:b"), " ") == "image inspect --format {{json .}} a:b");
    CHECK(text::join(docker().stop("n"), " ") == "stop --time 2 n");
    CHECK(text::join(docker().kill("n"), " ") == "kill n");
    CHECK(text::join(docker().remove("n"), " ") == "rm --force --volumes n");
    CHECK(text::join(docker().list("io.cudamatrix.run=r1"), " ") ==
          "ps --all --no-trunc --filter label=io.cudamatrix.run=r1 --format {{.ID}} {{.Names}}");
    CHECK(
        text::join(docker().list_images("io.cudamatrix.inputs"), " ") ==
        "image ls --no-trunc --filter label=io.cudamatrix.inputs --format {{.ID}} {{.Repository}}:{{.Tag}}");
    CHECK(text::join(docker().save("a:b"), " ") == "image save a:b");
    CHECK(text::join(docker().context(), " ") ==
          "context inspect --format {{.Name}} {{.Endpoints.docker.Host}}");
    CHECK(text::join(docker().builder("farm"), " ") == "buildx inspect farm");
    CHECK(text::join(docker().at_host("ssh://gpu@box"), " ") == "--host ssh://gpu@box");
    CHECK(text::join(docker().remove_image("a:b"), " ") == "image rm a:b");
    CHECK(text::join(docker().storage(), " ") == "info --format {{.DockerRootDir}}");
    CHECK(text::join(docker().security(), " ") == "info --format {{.SecurityOptions}}");
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
                CHECK(has(argv, "--log-driver", "none"));
                CHECK(has(argv, "--label", "io.cudamatrix.run=r1"));
                CHECK(has(argv, "--label", "io.cudamatrix.folder=f1"));
                CHECK(has(argv, "--memory", "4096m"));
                CHECK(has(argv, "--memory-swap", "4096m"));
                CHECK(has(argv, "--pids-limit", "512"));
                CHECK(has(argv, "--shm-size", std::to_string(shm) + "m"));
                const auto gpus = std::count(argv.begin(), argv.end(), "--gpus") +
                                  std::count(argv.begin(), argv.end(), "--device");
                CHECK(gpus == (gpu ? 1 : 0));
                CHECK(std::count(argv.begin(), argv.end(), "--read-only") == 1);
                CHECK(std::count(argv.begin(), argv.end(), "--rm") == 1);
                CHECK(std::count(argv.begin(), argv.end(), "--init") == 1);
                for (const auto* flag :
                     {"--memory", "--cpus", "--pids-limit", "--tmpfs", "--name", "--log-driver"}) {
                    CHECK(std::count(argv.begin(), argv.end(), flag) == 1);
                }
                CHECK(text::join(argv, " ").find("noexec") != std::string::npos);
            }
        }
    }
    CHECK(runs == 12);  // of docker, podman and buildah
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
        {"run", "--gpus", "device="},
        {"run", "--gpus", "device=0,1"},
        {"run", "--gpus", "device=0,capabilities=all"},
        {"run", "--gpus=all"},
        {"run", "--gpus"},
        {"run", "--device", "nvidia.com/gpu=all"},
        {"run", "--device", "nvidia.com/gpu="},
        {"run", "--device", "nvidia.com/gpu=0:rwm"},
        {"run", "--device", "vendor.com/gpu=0"},
        {"run", "--device=nvidia.com/gpu=all"},
        {"run", "--device=/dev/nvidia0"},
        {"run", "--device"},
        {"run", "--tmpfs", "/tmp"},
        {"run", "--tmpfs", "/tmp:rw,exec,noexec"},
        {"run", "--tmpfs=/etc:rw,noexec,nosuid,nodev,size=1m"},
        {"run", "--cap-drop", "NET_RAW"},
        {"run", "--read-only=false"},
        {"run", "--read-only-tmpfs"},
        {"run", "--read-only-tmpfs=true"},
        {"run", "--http-proxy"},
        {"run", "--env-host"},
        {"run", "--pod", "p"},
        {"run", "--rootfs", "/"},
        {"run", "--uidmap", "0:0:1"},
        {"run", "--group-add", "keep-groups"},
        {"run", "--secret", "s"},
        {"run", "--runtime", "x"},
        {"run", "-p", "80:80"},
        {"run", "-u", "0"},
        {"run", "--publish", "80:80"},
        {"run", "--sysctl", "kernel.x=1"},
    };
    for (const auto& argv : bad) {
        INFO(text::join(argv, " "));
        CHECK(forbidden_argument(argv).has_value());
    }
    for (const auto& argv :
         {Argv{"run", "--gpus", "device=0"}, Argv{"run", "--gpus=device=12"},
          Argv{"run", "--device", "nvidia.com/gpu=0"}, Argv{"run", "--device=nvidia.com/gpu=12"}}) {
        INFO(text::join(argv, " "));
        CHECK_FALSE(forbidden_argument(argv).has_value());
    }
}

TEST_CASE("dialect: the URL of another machine's engine is checked, before ssh sees it") {
    for (const auto* good :
         {"ssh://box", "ssh://me@box.example.org:2222", "ssh://box/run/user/1/podman.sock",
          "tcp://10.0.0.1:2376", "tcp://box:2375/", "tcp://[::1]:2375", "unix:///run/podman/podman.sock"}) {
        INFO(good);
        CHECK(mistake_in_host(good).empty());
    }
    const std::vector<std::pair<std::string, std::string>> bad{
        {"", "expected ssh://[USER@]HOST[:PORT][/SOCKET], tcp://HOST:PORT or unix:///SOCKET"},
        {"box", "expected ssh://[USER@]HOST[:PORT][/SOCKET], tcp://HOST:PORT or unix:///SOCKET"},
        {"--privileged", "expected ssh://[USER@]HOST[:PORT][/SOCKET], tcp://HOST:PORT or unix:///SOCKET"},
        {"http://box", "expected ssh://[USER@]HOST[:PORT][/SOCKET], tcp://HOST:PORT or unix:///SOCKET"},
        {"fd://3", "expected ssh://[USER@]HOST[:PORT][/SOCKET], tcp://HOST:PORT or unix:///SOCKET"},
        {"SSH://box", "expected ssh://[USER@]HOST[:PORT][/SOCKET], tcp://HOST:PORT or unix:///SOCKET"},
        {"ssh://", "it names no machine"},
        {"ssh://-oProxyCommand=x", "it holds what no such URL has"},
        {"ssh://-oX", "it names no machine"},
        {"ssh://-l@box", "its user is none that a machine has"},
        {"ssh://@box", "its user is none that a machine has"},
        {"ssh://me:secret@box", "a password has no place in it"},
        {"ssh://me@-box", "it names no machine"},
        {"ssh://box:port", "its port is no number"},
        {"ssh://box:", "its port is no number"},
        {"ssh://box\n", "it holds what no such URL has"},
        {"ssh://a b", "it holds what no such URL has"},
        {"tcp://me@box:1", "a user goes with ssh:// only"},
        {"tcp://box:1/path", "a path goes with ssh:// and unix:// only"},
        {"tcp://box:123456", "its port is no number"},
        {"tcp://[::1", "it names no machine"},
        {"unix://run/x.sock", "its socket is no absolute path"},
        {"unix:///", "its socket is no absolute path"},
        {"tcp://" + std::string(600, 'a'), "it holds what no such URL has"},
    };
    for (const auto& row : bad) {
        INFO(row.first);
        CHECK(mistake_in_host(row.first) == row.second);
    }
    CHECK(mistake_in_builder("farm-1.eu").empty());
    for (const auto* name : {"", "-x", "--load", "a b", "a,b", ".."})
        CHECK(mistake_in_builder(name) == "expected a name of `docker buildx ls`");
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
