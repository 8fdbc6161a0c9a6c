#include "run/engine/engine.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/version.hpp"

namespace cudamatrix::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kProbeLimit{20};

// Every program `name` of PATH, then the fallbacks, each file once.
std::vector<std::string> clients(std::string_view name, const Environment& environment,
                                 const std::vector<std::string>& fallbacks) {
    std::vector<std::string> found;
    std::vector<fs::path> seen;
    const auto add = [&](const std::string& path) {
        if (!find_program(path, environment)) return;
        std::error_code error;
        const auto real = fs::canonical(path, error);
        if (error || std::ranges::find(seen, real) != seen.end()) return;
        seen.push_back(real);
        found.push_back(path);
    };
    const auto path = environment.find("PATH");
    if (path != environment.end()) {
        for (const auto& directory : text::split(path->second, ':')) {
            if (!directory.empty() && directory.front() == '/') add(directory + "/" + std::string(name));
        }
    }
    for (const auto& fallback : fallbacks)
        add(fallback);
    return found;
}

Environment client_environment(const Environment& base) {
    Environment environment = base;
    environment["DOCKER_BUILDKIT"] = "1";
    environment["BUILDX_NO_DEFAULT_ATTESTATIONS"] = "1";  // an attestation would turn the image into an index
    environment["DOCKER_CLI_HINTS"] = "false";
    environment["LC_ALL"] = "C";
    return environment;
}

Result<Outcome> probe(const Engine& engine, Argv arguments, const Cancellation* cancellation) {
    auto command = engine.command(std::move(arguments));
    command.time_limit = kProbeLimit;
    command.grace = std::chrono::seconds(1);
    command.output_limit = 1u << 20;
    return cudamatrix::run(command, cancellation);
}

std::string first_line(std::string_view text) {
    return text::printable(text::split(text::trim(text), '\n').front());
}

// Tries one client. Gives its engine, or the reason why not in `why_not`.
std::optional<Engine> try_client(const Dialect& dialect, const std::string& client,
                                 const Environment& environment, const Cancellation* cancellation,
                                 std::string& why_not) {
    Engine engine;
    engine.dialect = &dialect;
    engine.program = client;
    engine.environment = client_environment(environment);
    const auto reject = [&](std::string reason) {
        why_not = fmt::format("{}: {}", text::printable(client), std::move(reason));
        return std::nullopt;
    };

    const auto outcome = probe(engine, dialect.version(), cancellation);
    if (!outcome.ok()) return reject("it cannot be run");
    if (outcome->how != Ended::exited) return reject(outcome->describe());
    const auto json = parse_json(outcome->out, "docker version");
    const bool known =
        json.ok() && json->is_object() && json->contains("Client") && (*json)["Client"].is_object();
    const auto client_version = known ? string_or((*json)["Client"], "Version") : std::string{};
    const bool served = known && json->contains("Server") && (*json)["Server"].is_object();
    if (!served) {
        const auto reason = first_line(outcome->err);
        return reject(
            fmt::format("its daemon does not answer ({})", reason.empty() ? outcome->describe() : reason));
    }
    const auto version = Version::parse(client_version);
    if (!version) return reject("it does not tell its version");
    // Up to 22 BuildKit is part of the client; later ones need the buildx plugin.
    if (version->major() >= 23) {
        const auto buildx = probe(engine, dialect.buildkit(), cancellation);
        if (!buildx.ok() || !buildx->success()) {
            return reject(
                fmt::format("client {} cannot use BuildKit: its buildx plugin is missing", version->text()));
        }
    }
    engine.version = fmt::format("client {}, server {}", text::printable(client_version),
                                 text::printable(string_or((*json)["Server"], "Version", "unknown")));
    engine.gpu_runtime = find_program("nvidia-container-runtime-hook", environment).has_value() ||
                         find_program("nvidia-container-runtime", environment).has_value();
    return engine;
}

Result<Engine> choose_containers(const Dialect& dialect, const Environment& environment,
                                 const Cancellation* cancellation,
                                 const std::vector<std::string>& fallbacks) {
    const auto found = clients(dialect.program, environment, fallbacks);
    std::vector<std::string> why_not;
    for (const auto& client : found) {
        std::string reason;
        if (auto engine = try_client(dialect, client, environment, cancellation, reason)) {
            engine->why = fmt::format("{}, {}", engine->program, engine->version);
            if (!why_not.empty()) engine->why += fmt::format(" (not {})", text::join(why_not, "; "));
            return std::move(*engine);
        }
        why_not.push_back(std::move(reason));
        if (cudamatrix::interrupted(cancellation)) return Failure{ExitCode::interrupted, {}};
    }
    if (found.empty()) {
        return environment_failure(
            fmt::format("engine {}: no program {} on PATH", dialect.name, dialect.program),
            "install it (Debian, Ubuntu: apt-get install docker.io) and start its daemon, or take --engine "
            "host");
    }
    auto diagnostic = Diagnostic::error(fmt::format("engine {}: none of its clients works", dialect.name));
    for (auto& reason : why_not)
        diagnostic = std::move(diagnostic).with_note(std::move(reason));
    diagnostic =
        std::move(diagnostic)
            .with_fix(
                "start the daemon (systemctl start docker) or point DOCKER_HOST at it; a client from "
                "release 23 on needs the package docker-buildx-plugin or docker-buildx");
    return Failure{ExitCode::environment, {std::move(diagnostic)}};
}

Result<Engine> choose_host(const Environment& environment, const Cancellation* cancellation) {
    auto engine = choose_nvcc({}, environment, cancellation);
    if (engine.ok() || engine.failure().code == ExitCode::interrupted) return engine;
    return environment_failure("engine host: " + engine.failure().diagnostics.front().message,
                               "install or repair a CUDA toolkit, or take --engine docker");
}

}  // namespace

Command Engine::command(Argv arguments) const {
    Command command;
    command.argv.reserve(arguments.size() + 1);
    command.argv.push_back(program);
    for (auto& argument : arguments)
        command.argv.push_back(std::move(argument));
    command.environment = environment;
    return command;
}

Result<Engine> choose_nvcc(std::string_view path, const Environment& environment,
                           const Cancellation* cancellation) {
    const std::string fix = "install a CUDA toolkit, or name its nvcc: --nvcc PATH";
    auto nvcc = find_program(path.empty() ? "nvcc" : path, environment);
    if (!nvcc && path.empty()) nvcc = find_program("/usr/local/cuda/bin/nvcc", environment);
    if (!nvcc && path.empty())
        return environment_failure("no nvcc on PATH and none in /usr/local/cuda/bin", fix);
    if (!nvcc) return environment_failure(fmt::format("{} is no program", text::printable(path)), fix);
    Engine engine;
    engine.dialect = dialect_named("host");
    engine.program = *nvcc;
    engine.environment = environment;
    CM_TRY_ASSIGN(const auto outcome, probe(engine, {"--version"}, cancellation));
    constexpr std::string_view kMark = ", V";  // "Cuda compilation tools, release 13.0, V13.0.88"
    const auto at = outcome.out.rfind(kMark);
    const auto word = at == std::string::npos ? std::string_view{}
                                              : std::string_view(outcome.out).substr(at + kMark.size());
    const auto version = Version::parse(text::trim(word.substr(0, word.find('\n'))));
    if (!outcome.success() || !version) {
        return environment_failure(
            fmt::format("{} does not tell its version ({})", text::printable(*nvcc), outcome.describe()),
            fix);
    }
    engine.version = version->text();
    engine.why = fmt::format("{}, nvcc {}", text::printable(*nvcc), engine.version);
    engine.gpu_runtime = true;
    return engine;
}

Result<Engine> choose(std::string_view wanted, const Environment& environment,
                      const Cancellation* cancellation, const std::vector<std::string>& fallback_clients) {
    std::vector<std::string> names;
    for (const auto& dialect : all_dialects())
        names.emplace_back(dialect.name);
    if (wanted != "auto" && dialect_named(wanted) == nullptr) {
        return input_failure(fmt::format("there is no engine {}", text::printable(wanted)),
                             fmt::format("auto, {}", text::join(names, ", ")));
    }
    std::vector<Diagnostic> tried;
    for (const auto& dialect : all_dialects()) {
        if (wanted != "auto" && wanted != dialect.name) continue;
        auto engine = dialect.containers
                          ? choose_containers(dialect, environment, cancellation, fallback_clients)
                          : choose_host(environment, cancellation);
        if (engine.ok()) {
            if (wanted == "auto" && !dialect.containers && !tried.empty()) {
                engine->why += fmt::format(" (no container engine: {})", tried.front().message);
            }
            return engine;
        }
        if (engine.failure().code == ExitCode::interrupted) return engine;
        for (const auto& diagnostic : engine.failure().diagnostics)
            tried.push_back(diagnostic);
    }
    return Failure{ExitCode::environment, std::move(tried)};
}

Result<std::optional<ImageInfo>> inspect(const Engine& engine, std::string_view reference,
                                         const Cancellation* cancellation) {
    CM_TRY_ASSIGN(const auto outcome, probe(engine, engine.dialect->inspect(reference), cancellation));
    if (outcome.how == Ended::cancelled) return Failure{ExitCode::interrupted, {}};
    const auto fail = [&](std::string_view what) {
        return environment_failure(fmt::format("{}: cannot inspect the image {}: {}", engine.name(),
                                               text::printable(reference), what));
    };
    if (!outcome.success()) {
        if (outcome.how == Ended::exited &&
            text::lower(outcome.err).find("no such image") != std::string::npos) {
            return std::optional<ImageInfo>{};
        }
        return fail(outcome.err.empty() ? outcome.describe() : first_line(outcome.err));
    }
    const auto json = parse_json(outcome.out, "docker image inspect");
    if (!json.ok()) return fail("its answer is not JSON");
    ImageInfo info;
    info.id = string_or(*json, "Id");
    if (!json->is_object() || info.id.substr(0, 7) != "sha256:") return fail("its answer has no image id");
    if (json->contains("Size") && (*json)["Size"].is_number_unsigned())
        info.bytes = (*json)["Size"].get<std::uint64_t>();
    if (json->contains("Config") && (*json)["Config"].is_object() && (*json)["Config"].contains("Labels") &&
        (*json)["Config"]["Labels"].is_object()) {
        for (const auto& [key, value] : (*json)["Config"]["Labels"].items()) {
            if (value.is_string()) info.labels[key] = value.get<std::string>();
        }
    }
    return std::optional(std::move(info));
}

std::optional<fs::path> storage(const Engine& engine, const Cancellation* cancellation) {
    const auto outcome = probe(engine, engine.dialect->storage(), cancellation);
    if (!outcome.ok() || !outcome->success()) return std::nullopt;
    const fs::path folder(std::string(text::trim(outcome->out)));
    std::error_code error;
    if (!folder.is_absolute() || !fs::is_directory(folder, error)) return std::nullopt;
    return folder;
}

}  // namespace cudamatrix::engine
