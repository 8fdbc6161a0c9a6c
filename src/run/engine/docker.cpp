#include "base/json.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "run/engine/dialect_rows.hpp"
#include "run/engine/engine.hpp"

namespace cudamatrix::engine {
namespace {

constexpr unsigned kFirstWithPlugin = 23;  // up to 22 BuildKit is part of the client

Argv docker_probe() {
    return {"version", "--format", "{{json .}}"};
}

Probed read_docker_probe(const Outcome& outcome) {
    Probed probed;
    const auto json = parse_json(outcome.out, "docker version");
    const auto* client = json.ok() ? member(*json, "Client") : nullptr;
    const auto* server = json.ok() ? member(*json, "Server") : nullptr;
    const bool known = client != nullptr && client->is_object();
    if (!known || server == nullptr || !server->is_object()) {
        probed.why_not = fmt::format("its daemon does not answer ({})", reason_of(outcome));
        return probed;
    }
    const auto release = string_or(*client, "Version");
    const auto version = Version::parse(release);
    if (!version) {
        probed.why_not = "it does not tell its version";
        return probed;
    }
    probed.needs_buildx = version->major() >= kFirstWithPlugin;
    probed.version = fmt::format("client {}, server {}", text::printable(release),
                                 text::printable(string_or(*server, "Version", "unknown")));
    return probed;
}

Argv docker_buildx() {
    return {"buildx", "version"};
}

// The builder of the engine itself is called as its context is.
Argv docker_context() {
    return {"context", "inspect", "--format", "{{.Name}} {{.Endpoints.docker.Host}}"};
}

Argv docker_builder(std::string_view name) {
    return {"buildx", "inspect", std::string(name)};
}

Argv docker_at_host(std::string_view url) {
    return {"--host", std::string(url)};
}

Argv docker_build(const BuildRequest& request) {
    Argv argv{"build", "--progress", "plain"};
    if (!request.builder.empty()) {
        argv = {"buildx", "build", "--builder", request.builder, "--progress", "plain"};
        // What another builder makes stays there, unless it is asked for.
        if (request.export_to.empty()) argv.emplace_back("--load");
    }
    add_build_arguments(request, request.reference, argv);
    return argv;
}

Argv docker_run(const RunRequest& request) {
    Argv own{"--ulimit", "core=0"};
    if (request.gpu) own.insert(own.end(), {"--gpus", fmt::format("device={}", *request.gpu)});
    return hardened_run(request, own);
}

Argv docker_storage() {
    return {"info", "--format", "{{.DockerRootDir}}"};
}

Argv docker_security() {
    return {"info", "--format", "{{.SecurityOptions}}"};
}

}  // namespace

Dialect docker_dialect() {
    auto row = client_like_docker();
    row.name = row.program = "docker";
    row.automatic = true;
    row.install = "install it (Debian, Ubuntu: apt-get install docker.io) and start its daemon";
    row.repair =
        "start the daemon (systemctl start docker) or point DOCKER_HOST at it; a client from release 23 on "
        "needs the package docker-buildx-plugin or docker-buildx";
    row.gpus = GpuForm::hook;
    // BuildKit; measured with docker 20.10: two builds that share a step of 20 s take 20 s.
    row.shares_running_steps = true;
    row.probe = docker_probe;
    row.read_probe = read_docker_probe;
    row.at_host = docker_at_host;
    row.host_variable = "DOCKER_HOST";
    row.buildx = docker_buildx;
    row.context = docker_context;
    row.builder = docker_builder;
    row.build = docker_build;
    row.run = docker_run;
    row.storage = docker_storage;
    row.security = docker_security;
    return row;
}

}  // namespace cudamatrix::engine
