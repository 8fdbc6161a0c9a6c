#include "run/engine/dialect.hpp"

#include <array>

#include "base/text.hpp"

namespace cudamatrix::engine {
namespace {

namespace docker {

Argv version() {
    return {"version", "--format", "{{json .}}"};
}

Argv buildkit() {
    return {"buildx", "version"};
}

Argv build(const BuildRequest& request) {
    Argv argv{"build", "--progress", "plain"};
    if (!request.platform.empty()) argv.insert(argv.end(), {"--platform", request.platform});
    argv.insert(argv.end(), {"--network", request.network});
    if (!request.dockerfile.empty()) argv.insert(argv.end(), {"--file", request.dockerfile.string()});
    if (!request.target.empty()) argv.insert(argv.end(), {"--target", request.target});
    if (!request.reference.empty()) argv.insert(argv.end(), {"--tag", request.reference});
    if (!request.ca_bundle.empty()) argv.insert(argv.end(), {"--secret", "id=ca,src=" + request.ca_bundle});
    if (!request.netrc.empty()) argv.insert(argv.end(), {"--secret", "id=netrc,src=" + request.netrc});
    for (const auto& [key, value] : request.labels)
        argv.insert(argv.end(), {"--label", key + "=" + value});
    for (const auto& name : request.forwarded)
        argv.insert(argv.end(), {"--build-arg", name});
    if (!request.export_to.empty()) {
        argv.insert(argv.end(), {"--output", "type=local,dest=" + request.export_to.string()});
    }
    if (request.no_cache) argv.emplace_back("--no-cache");
    argv.push_back(request.context.string());
    return argv;
}

Argv inspect(std::string_view reference) {
    return {"image", "inspect", "--format", "{{json .}}", std::string(reference)};
}

Argv run(const RunRequest& request) {
    Argv argv{"run", "--rm", "--init", "--no-healthcheck", "--name", request.name, "--label",
              fmt::format("{}={}", kRunLabel, request.run_id), "--pull", "never", "--network", "none",
              "--read-only", "--tmpfs", fmt::format("/tmp:rw,noexec,nosuid,nodev,size={}m", request.tmp_mib),
              "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--pids-limit",
              std::to_string(request.processes), "--memory", fmt::format("{}m", request.memory_mib),
              "--memory-swap", fmt::format("{}m", request.memory_mib), "--cpus", std::to_string(request.cpus),
              "--ulimit", "core=0", "--ipc", "private", "--shm-size", fmt::format("{}m", request.shm_mib),
              "--user", "65532:65532", "--workdir", "/tmp",
              // A flood on stdout must not fill the daemon's disk: what counts is read from the client.
              "--log-driver", "none"};
    if (request.gpu) argv.insert(argv.end(), {"--gpus", fmt::format("device={}", *request.gpu)});
    for (const auto& [key, value] : request.environment)
        argv.insert(argv.end(), {"--env", key + "=" + value});
    if (!request.entrypoint.empty()) argv.insert(argv.end(), {"--entrypoint", request.entrypoint});
    argv.push_back(request.image);
    argv.insert(argv.end(), request.arguments.begin(), request.arguments.end());
    return argv;
}

Argv stop(std::string_view container) {
    return {"stop", "--time", "2", std::string(container)};
}
Argv kill(std::string_view container) {
    return {"kill", std::string(container)};
}
Argv remove(std::string_view container) {
    return {"rm", "--force", "--volumes", std::string(container)};
}

Argv list(std::string_view run_id) {
    return {"ps",         "--all",    "--quiet",
            "--no-trunc", "--filter", fmt::format("label={}={}", kRunLabel, run_id)};
}

Argv import(std::string_view tar, std::string_view reference) {
    return {"import", std::string(tar), std::string(reference)};
}

Argv remove_image(std::string_view reference) {
    return {"image", "rm", std::string(reference)};
}

Argv storage() {
    return {"info", "--format", "{{.DockerRootDir}}"};
}

}  // namespace docker

constexpr std::array<Dialect, 2> kDialects{{
    {"docker", "docker", true, docker::version, docker::buildkit, docker::build, docker::inspect, docker::run,
     docker::stop, docker::kill, docker::remove, docker::list, docker::import, docker::remove_image,
     docker::storage},
    {"host", "", false},
}};

bool is_one_of(std::string_view word, std::span<const std::string_view> list) {
    for (const auto candidate : list) {
        if (word == candidate) return true;
    }
    return false;
}

// Flags that are wrong whatever their value; a flag of these may also read "--flag=value".
constexpr std::array<std::string_view, 14> kNever{
    "--privileged",   "--cap-add", "--device", "--volume", "-v",         "--mount",
    "--volumes-from", "--userns",  "--pid",    "--uts",    "--cgroupns", "--device-cgroup-rule",
    "--sysctl",       "--publish"};

// Flags with the only values that they may have.
bool wrong_value(std::string_view flag, std::string_view value) {
    if (flag == "--network" || flag == "--net") return value != "none";
    if (flag == "--ipc") return value != "private";
    if (flag == "--security-opt") return value != "no-new-privileges";
    if (flag == "--pull") return value != "never";
    if (flag == "--user")
        return value.substr(0, value.find(':')) == "0" || value.substr(0, value.find(':')) == "root";
    if (flag == "--gpus") return value.substr(0, 7) != "device=";
    return false;
}

}  // namespace

std::span<const Dialect> all_dialects() {
    return kDialects;
}

const Dialect* dialect_named(std::string_view name) {
    for (const auto& dialect : kDialects) {
        if (dialect.name == name) return &dialect;
    }
    return nullptr;
}

std::optional<std::string> forbidden_argument(const Argv& argv) {
    for (std::size_t i = 0; i < argv.size(); ++i) {
        const std::string_view argument = argv[i];
        const auto equals = argument.find('=');
        const auto flag = argument.substr(0, equals);
        if (is_one_of(flag, kNever)) return argv[i];
        const bool inlined = equals != std::string_view::npos;
        const std::string_view value = inlined               ? argument.substr(equals + 1)
                                       : i + 1 < argv.size() ? std::string_view(argv[i + 1])
                                                             : std::string_view{};
        if (wrong_value(flag, value)) return inlined ? argv[i] : fmt::format("{} {}", flag, value);
    }
    return std::nullopt;
}

}  // namespace cudamatrix::engine
