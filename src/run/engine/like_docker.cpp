#include "base/text.hpp"
#include "run/engine/dialect_rows.hpp"

namespace cudamatrix::engine {

void add_build_arguments(const BuildRequest& request, const std::string& reference, Argv& argv) {
    if (!request.platform.empty()) argv.insert(argv.end(), {"--platform", request.platform});
    // The engine's own has no name: to podman "default" would be a network that is called so.
    if (!request.network.empty() && request.network != "default")
        argv.insert(argv.end(), {"--network", request.network});
    if (!request.dockerfile.empty()) argv.insert(argv.end(), {"--file", request.dockerfile.string()});
    if (!request.target.empty()) argv.insert(argv.end(), {"--target", request.target});
    if (!reference.empty()) argv.insert(argv.end(), {"--tag", reference});
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
}

Argv hardened_run(const RunRequest& request, const Argv& own) {
    Argv argv{"run", "--rm", "--init", "--no-healthcheck", "--name", request.name, "--label",
              fmt::format("{}={}", kRunLabel, request.run_id), "--label",
              fmt::format("{}={}", kFolderLabel, request.folder), "--pull", "never", "--network", "none",
              "--read-only", "--tmpfs", fmt::format("/tmp:rw,noexec,nosuid,nodev,size={}m", request.tmp_mib),
              "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--pids-limit",
              std::to_string(request.processes), "--memory", fmt::format("{}m", request.memory_mib),
              "--memory-swap", fmt::format("{}m", request.memory_mib), "--cpus", std::to_string(request.cpus),
              "--ipc", "private", "--shm-size", fmt::format("{}m", request.shm_mib), "--user", "65532:65532",
              "--workdir", "/tmp",
              // A flood on stdout must not fill the engine's disk: what counts is read from the client.
              "--log-driver", "none"};
    argv.insert(argv.end(), own.begin(), own.end());
    for (const auto& [key, value] : request.environment)
        argv.insert(argv.end(), {"--env", key + "=" + value});
    if (!request.entrypoint.empty()) argv.insert(argv.end(), {"--entrypoint", request.entrypoint});
    argv.push_back(request.image);
    argv.insert(argv.end(), request.arguments.begin(), request.arguments.end());
    return argv;
}

namespace {

Argv inspect_image(std::string_view reference) {
    return {"image", "inspect", "--format", "{{json .}}", std::string(reference)};
}

Argv stop_container(std::string_view container) {
    return {"stop", "--time", "2", std::string(container)};
}

Argv kill_container(std::string_view container) {
    return {"kill", std::string(container)};
}

Argv remove_container(std::string_view container) {
    return {"rm", "--force", "--volumes", std::string(container)};
}

Argv list_containers(std::string_view label) {
    return {"ps",
            "--all",
            "--no-trunc",
            "--filter",
            "label=" + std::string(label),
            "--format",
            "{{.ID}} {{.Names}}"};
}

Argv list_labelled_images(std::string_view label) {
    return {"image",
            "ls",
            "--no-trunc",
            "--filter",
            "label=" + std::string(label),
            "--format",
            "{{.ID}} {{.Repository}}:{{.Tag}}"};
}

Argv save_image(std::string_view reference) {
    return {"image", "save", std::string(reference)};
}

Argv remove_image_named(std::string_view reference) {
    return {"image", "rm", std::string(reference)};
}

}  // namespace

Dialect client_like_docker() {
    Dialect row;
    row.containers = true;
    row.inspect = inspect_image;
    row.stop = stop_container;
    row.kill = kill_container;
    row.remove = remove_container;
    row.list = list_containers;
    row.list_images = list_labelled_images;
    row.save = save_image;
    row.remove_image = remove_image_named;
    return row;
}

}  // namespace cudamatrix::engine
