#include "base/json.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "run/engine/dialect_rows.hpp"

namespace cudamatrix::engine {
namespace {

// The first whose builds write files out (--output) and that takes GPUs by CDI.
constexpr unsigned kFirstMajor = 4;
constexpr unsigned kFirstMinor = 1;

// `version` succeeds where storage and runtime do not work; this asks both.
Argv podman_probe() {
    return {"info", "--format", "json"};
}

Probed read_podman_probe(const Outcome& outcome) {
    Probed probed;
    if (!outcome.success()) {
        // A remote client explains first and says what is wrong last.
        const auto lines = text::split(text::trim(outcome.err), '\n');
        const auto reason = text::printable(lines.back());
        probed.why_not = fmt::format("it does not work ({})", reason.empty() ? outcome.describe() : reason);
        return probed;
    }
    const auto json = parse_json(outcome.out, "podman info");
    const auto* about = json.ok() ? member(*json, "version") : nullptr;
    const auto release = about == nullptr ? std::string() : string_or(*about, "Version");
    const auto version = Version::parse(release);
    if (!version) {
        probed.why_not = "it does not tell its version";
        return probed;
    }
    const auto first = Version::parse(fmt::format("{}.{}", kFirstMajor, kFirstMinor));
    if (*version < *first) {
        probed.why_not = fmt::format("release {} is too old: {} is the first with the builds that are needed",
                                     version->text(), first->text());
        return probed;
    }
    probed.version = text::printable(release);
    const auto* host = member(*json, "host");
    const auto* service = host == nullptr ? nullptr : member(*host, "serviceIsRemote");
    probed.service = service != nullptr && service->is_boolean() && service->get<bool>();
    return probed;
}

Argv podman_at_host(std::string_view url) {
    return {"--url", std::string(url)};
}

// podman keeps a name without a registry as one of the registry "localhost". Said in full it is found as it
// is, whatever registries.conf puts in front of short names.
std::string stored_name(std::string_view reference) {
    const auto slash = reference.find('/');
    const auto first = reference.substr(0, slash);
    const bool has_registry = slash != std::string_view::npos &&
                              (first == "localhost" || first.find_first_of(".:") != std::string_view::npos);
    const bool is_id = reference.starts_with("sha256:");
    return (has_registry || is_id || reference.empty() ? "" : "localhost/") + std::string(reference);
}

// docker's format keeps what OCI's has no place for (HEALTHCHECK).
Argv build_in_format(const BuildRequest& request, Argv argv) {
    argv.insert(argv.end(), {"--format", "docker"});
    add_build_arguments(request, stored_name(request.reference), argv);
    return argv;
}

Argv podman_build(const BuildRequest& request) {
    return build_in_format(request, {"build"});
}

// Unlike podman, buildah keeps no steps unless it is told to.
Argv buildah_build(const BuildRequest& request) {
    return build_in_format(request, {"build", "--layers"});
}

Argv podman_inspect(std::string_view reference) {
    return client_like_docker().inspect(stored_name(reference));
}

Argv podman_save(std::string_view reference) {
    return client_like_docker().save(stored_name(reference));
}

Argv podman_remove_image(std::string_view reference) {
    return client_like_docker().remove_image(stored_name(reference));
}

// What docker leaves out, podman has to be told to: a writable /run and /var/tmp from which programs start,
// and the proxies of this machine. It gets no --ulimit: one of ours would replace all that containers.conf
// sets, and core files have no room but /tmp.
Argv podman_run(const RunRequest& request) {
    Argv own{"--read-only-tmpfs=false", "--http-proxy=false"};
    if (request.gpu) own.insert(own.end(), {"--device", fmt::format("nvidia.com/gpu={}", *request.gpu)});
    return hardened_run(request, own);
}

Argv podman_storage() {
    return {"info", "--format", "{{.Store.GraphRoot}}"};
}

Argv buildah_probe() {
    return {"--version"};
}

}  // namespace

Dialect podman_dialect() {
    auto row = client_like_docker();
    row.name = row.program = "podman";
    row.automatic = true;
    row.install = "install it (Debian, Ubuntu: apt-get install podman)";
    row.repair = "podman info has to succeed for this user; 4.1 is the first release that can be used";
    row.gpus = GpuForm::cdi;
    row.probe = podman_probe;
    row.read_probe = read_podman_probe;
    row.at_host = podman_at_host;
    row.host_variable = "CONTAINER_HOST";
    row.build = podman_build;
    row.inspect = podman_inspect;
    row.run = podman_run;
    row.save = podman_save;
    row.remove_image = podman_remove_image;
    row.storage = podman_storage;
    return row;
}

Dialect buildah_dialect() {
    auto row = podman_dialect();
    row.name = row.build_program = "buildah";
    row.automatic = false;  // where it works podman does, and builds as well
    row.install = "install both (Debian, Ubuntu: apt-get install buildah podman)";
    row.at_host = nullptr;
    row.host_variable = {};
    row.probe_builder = buildah_probe;
    row.build = buildah_build;
    return row;
}

}  // namespace cudamatrix::engine
