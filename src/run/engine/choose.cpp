#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"
#include "run/engine/engine.hpp"

namespace cudamatrix::engine {
namespace {

// Every program `name` of PATH, then the fallbacks, each file once.
std::vector<std::string> clients(std::string_view name, const Environment& environment,
                                 const std::vector<std::string>& fallbacks) {
    std::vector<std::string> found;
    std::vector<std::filesystem::path> seen;
    const auto add = [&](const std::string& path) {
        if (!find_program(path, environment)) return;
        std::error_code error;
        const auto real = std::filesystem::canonical(path, error);
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

// Where another process does the work, and on which machine: of an engine behind a socket of this one the
// disk and the GPUs are this one's.
bool is_elsewhere(std::string_view url) {
    return !url.empty() && !url.starts_with("unix:") && !url.starts_with("npipe:") && !url.starts_with("fd:");
}

std::string value_in(const Environment& environment, std::string_view name) {
    const auto found = environment.find(std::string(name));
    return found == environment.end() ? std::string() : found->second;
}

// The reason why a call failed, or nothing.
std::string failure_of(const Result<Outcome>& outcome) {
    if (!outcome.ok()) return "it cannot be run";
    if (outcome->success()) return {};
    return outcome->how == Ended::exited ? reason_of(*outcome) : outcome->describe();
}

// One client from its path to an engine, or the reason why not.
class Client {
  public:
    Client(const Dialect& dialect, const std::string& path, const Choice& choice,
           const Environment& environment, const Cancellation* cancellation)
        : dialect_(dialect), choice_(choice), cancellation_(cancellation) {
        engine_.dialect = &dialect;
        engine_.program = path;
        engine_.environment = client_environment(environment);
        if (!choice.host.empty()) engine_.options = dialect.at_host(choice.host);
    }

    /// The reason why it cannot be used; empty: take() it.
    std::string why_not() {
        const auto outcome = ask(engine_, dialect_.probe(), cancellation_);
        if (!outcome.ok()) return "it cannot be run";
        if (outcome->how != Ended::exited) return outcome->describe();
        auto probed = dialect_.read_probe(*outcome);
        if (!probed.why_not.empty()) return probed.why_not;
        engine_.version = std::move(probed.version);
        engine_.exports = !probed.service;
        auto place =
            choice_.host.empty() ? value_in(engine_.environment, dialect_.host_variable) : choice_.host;
        if (auto reason = find_builders(probed.needs_buildx, place); !reason.empty()) return reason;
        if (auto reason = find_build_program(); !reason.empty()) return reason;
        // A socket of docker's is always asked, one of podman's only where podman says so.
        const bool asked = dialect_.context != nullptr || probed.service;
        engine_.remote = asked && (is_elsewhere(place) || (probed.service && place.empty()));
        if (!choice_.host.empty() || (engine_.remote && !place.empty()))
            engine_.version += " at " + text::printable(place);
        engine_.gpu_runtime = !engine_.remote && gives_gpus();
        return {};
    }

    Engine take() {
        engine_.why = fmt::format("{}, {}", engine_.program, engine_.version);
        if (engine_.build_program != engine_.program)
            engine_.why += fmt::format(", builds by {}", engine_.build_program);
        if (!engine_.builder.empty()) engine_.why += fmt::format(", builder {}", engine_.builder);
        return std::move(engine_);
    }

  private:
    // Of docker, where its builds go through buildx: the own one's name, and the one that was asked for.
    std::string find_builders(bool needs_buildx, std::string& place) {
        if (dialect_.context == nullptr) return {};
        engine_.own_builder = "default";  // of a place that an option or a variable names
        if (place.empty()) {
            const auto context = ask(engine_, dialect_.context(), cancellation_);
            const auto said =
                context.ok() && context->success() ? text::trim(context->out) : std::string_view();
            const auto blank = said.find(' ');
            if (blank != std::string_view::npos) {
                engine_.own_builder = said.substr(0, blank);
                place = text::trim(said.substr(blank));
            }
        }
        if (needs_buildx || !choice_.builder.empty()) {
            const auto buildx = ask(engine_, dialect_.buildx(), cancellation_);
            if (!buildx.ok() || !buildx->success())
                return fmt::format("{} cannot use {}: its buildx plugin is missing",
                                   engine_.version.substr(0, engine_.version.find(',')),
                                   choice_.builder.empty() ? "BuildKit" : "builders");
        } else {
            engine_.own_builder.clear();
        }
        if (choice_.builder.empty()) return {};
        if (const auto reason = failure_of(ask(engine_, dialect_.builder(choice_.builder), cancellation_));
            !reason.empty())
            return fmt::format("it has no builder {} that works ({})", choice_.builder, reason);
        engine_.builder = choice_.builder;
        return {};
    }

    std::string find_build_program() {
        engine_.build_program = engine_.program;
        if (dialect_.build_program.empty()) return {};
        if (!engine_.exports)
            return fmt::format("it works through a service, where nothing that {} builds is found",
                               dialect_.build_program);
        const auto found = find_program(dialect_.build_program, engine_.environment);
        if (!found) return fmt::format("no program {} on PATH", dialect_.build_program);
        auto builder = engine_;
        builder.program = *found;
        if (const auto reason = failure_of(ask(builder, dialect_.probe_builder(), cancellation_));
            !reason.empty())
            return fmt::format("{}: {}", text::printable(*found), reason);
        engine_.build_program = *found;
        return {};
    }

    bool gives_gpus() const {
        const auto& environment = engine_.environment;
        if (dialect_.gpus == GpuForm::hook)
            return find_program("nvidia-container-runtime-hook", environment).has_value() ||
                   find_program("nvidia-container-runtime", environment).has_value();
        const auto tool = find_program("nvidia-ctk", environment);
        if (dialect_.gpus != GpuForm::cdi || !tool) return false;
        Engine lister;
        lister.program = *tool;
        lister.environment = environment;
        const auto listed = ask(lister, {"cdi", "list"}, cancellation_);
        return listed.ok() && listed->success() && listed->out.find("nvidia.com/gpu=") != std::string::npos;
    }

    const Dialect& dialect_;
    const Choice& choice_;
    const Cancellation* cancellation_;
    Engine engine_;
};

Result<Engine> choose_containers(const Dialect& dialect, const Choice& choice, const Environment& environment,
                                 const Cancellation* cancellation,
                                 const std::vector<std::string>& fallbacks) {
    const auto found = clients(dialect.program, environment, fallbacks);
    std::vector<std::string> why_not;
    for (const auto& path : found) {
        Client client(dialect, path, choice, environment, cancellation);
        const auto reason = client.why_not();
        if (cudamatrix::interrupted(cancellation)) return Failure{ExitCode::interrupted, {}};
        if (reason.empty()) {
            auto engine = client.take();
            if (!why_not.empty()) engine.why += fmt::format(" (not {})", text::join(why_not, "; "));
            return engine;
        }
        why_not.push_back(fmt::format("{}: {}", text::printable(path), reason));
    }
    if (found.empty()) {
        return environment_failure(
            fmt::format("engine {}: no program {} on PATH", dialect.name, dialect.program),
            std::string(dialect.install));
    }
    auto diagnostic = Diagnostic::error(fmt::format("engine {}: none of its clients works", dialect.name));
    for (auto& reason : why_not)
        diagnostic = std::move(diagnostic).with_note(std::move(reason));
    diagnostic = std::move(diagnostic).with_fix(std::string(dialect.repair));
    return Failure{ExitCode::environment, {std::move(diagnostic)}};
}

Result<Engine> choose_host(const Environment& environment, const Cancellation* cancellation) {
    auto engine = choose_nvcc({}, environment, cancellation);
    if (engine.ok() || engine.failure().code == ExitCode::interrupted) return engine;
    return environment_failure("engine host: " + engine.failure().diagnostics.front().message,
                               "install or repair a CUDA toolkit, or take an engine with containers");
}

// What an engine has not, nobody can ask of it.
Status check_choice(const Choice& choice) {
    const bool any = choice.name == "auto";
    const auto* dialect = any ? nullptr : dialect_named(choice.name);
    if (!any && dialect == nullptr) {
        std::vector<std::string> names{"auto"};
        for (const auto& row : all_dialects())
            names.emplace_back(row.name);
        return input_failure(fmt::format("there is no engine {}", text::printable(choice.name)),
                             text::join(names, ", "));
    }
    if (!any && !choice.host.empty() && dialect->at_host == nullptr)
        return input_failure(
            fmt::format("engine {} works on this machine only, and --engine-host names another",
                        dialect->name),
            "--engine docker or --engine podman");
    if (!any && !choice.builder.empty() && dialect->builder == nullptr)
        return input_failure(
            fmt::format("engine {} has no builders to choose from by --builder", dialect->name),
            "--engine docker");
    return Done{};
}

bool is_tried(const Dialect& dialect, const Choice& choice) {
    if (choice.name != "auto") return choice.name == dialect.name;
    return dialect.automatic && (choice.host.empty() || dialect.at_host != nullptr) &&
           (choice.builder.empty() || dialect.builder != nullptr);
}

// "engine docker: none of its clients works: /usr/bin/docker: ..."
std::string why_not_others(const std::vector<Diagnostic>& reasons) {
    std::vector<std::string> out;
    for (const auto& reason : reasons) {
        auto notes = reason.notes;
        notes.insert(notes.begin(), reason.message);
        out.push_back(text::join(notes, ": "));
    }
    return text::join(out, "; ");
}

Failure no_engine(const std::vector<std::string>& names, std::vector<Diagnostic> reasons) {
    reasons.insert(
        reasons.begin(),
        Diagnostic::error(fmt::format("no engine works here that builds and runs images: {} tried",
                                      text::join(names, " and ")))
            .with_fix("repair one of them, or build and test the suite with this machine's own nvcc, without "
                      "images: --engine host"));
    return Failure{ExitCode::environment, std::move(reasons)};
}

}  // namespace

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
    CM_TRY_ASSIGN(const auto outcome, ask(engine, {"--version"}, cancellation));
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

Result<Engine> choose(const Choice& choice, const Environment& environment, const Cancellation* cancellation,
                      const std::vector<std::string>& fallback_clients) {
    CM_TRY(check_choice(choice));
    std::vector<Diagnostic> reasons;
    std::vector<std::string> names;
    for (const auto& dialect : all_dialects()) {
        if (!is_tried(dialect, choice)) continue;
        const auto fallbacks = dialect.name == "docker" ? fallback_clients : std::vector<std::string>{};
        auto engine = dialect.containers
                          ? choose_containers(dialect, choice, environment, cancellation, fallbacks)
                          : choose_host(environment, cancellation);
        if (engine.ok()) {
            if (!reasons.empty()) engine->why += fmt::format(" ({})", why_not_others(reasons));
            return engine;
        }
        if (choice.name != "auto" || engine.failure().code == ExitCode::interrupted) return engine;
        names.emplace_back(dialect.name);
        for (const auto& diagnostic : engine.failure().diagnostics)
            reasons.push_back(diagnostic);
    }
    return no_engine(names, std::move(reasons));
}

}  // namespace cudamatrix::engine
