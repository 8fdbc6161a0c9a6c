#include "run/job/engine_build.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <thread>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "run/job/build_output.hpp"

namespace cudamatrix::job {
namespace {

// The arguments that every Dockerfile has without declaring them: no history of an image holds their values.
constexpr std::array<std::string_view, 10> kProxies{"ALL_PROXY",   "all_proxy",   "FTP_PROXY",  "ftp_proxy",
                                                    "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy",
                                                    "NO_PROXY",    "no_proxy"};

bool unreachable(std::string_view output) {
    const auto low = text::lower(output);
    for (const std::string_view sign :
         {"cannot connect to the docker daemon", "cannot connect to podman", "unable to connect to podman"}) {
        if (low.find(sign) != std::string::npos) return true;
    }
    return false;
}

}  // namespace

Command build_command(const engine::Engine& engine, engine::BuildRequest request) {
    for (const auto name : kProxies) {
        const auto found = engine.environment.find(std::string(name));
        if (found != engine.environment.end() && !found->second.empty()) request.forwarded.emplace_back(name);
    }
    return engine.build_command(std::move(request));
}

namespace {

// Programs of another machine were started, and no emulator is registered for them.
bool is_not_executable(std::string_view output) {
    return output.find("exec format error") != std::string_view::npos;
}

Failure failure_of(const engine::BuildRequest& request, const BuildCall& call, const Outcome& outcome,
                   std::string_view output) {
    const auto code = unreachable(output) ? ExitCode::environment : ExitCode::findings;
    auto reason = outcome.how == Ended::exited ? build_error(output) : outcome.describe();
    if (reason.empty()) reason = outcome.describe();
    if (is_not_executable(output)) {
        reason = fmt::format(
            "this machine cannot run programs of {}: build on one that can, or register an emulator (Debian, "
            "Ubuntu: apt-get install qemu-user-static binfmt-support)",
            request.platform);
    }
    return Failure{code,
                   {Diagnostic::error(fmt::format("{}: the build failed: {}", call.what, reason))
                        .with_note("log: " + text::printable(call.log.string()))}};
}

// False after an interrupt.
bool waited(std::chrono::milliseconds pause, const Cancellation* cancellation) {
    constexpr std::chrono::milliseconds kBlink{50};
    for (; pause > pause.zero() && !interrupted(cancellation); pause -= std::min(pause, kBlink))
        std::this_thread::sleep_for(std::min(pause, kBlink));
    return !interrupted(cancellation);
}

}  // namespace

Status engine_build(const engine::Engine& engine, const engine::BuildRequest& request,
                    const BuildCall& call) {
    if (!request.export_to.empty() && !engine.exports) {
        return environment_failure(
            fmt::format("{}: engine {} works through a service here, and such builds write no files out",
                        call.what, engine.name()),
            "lock and attempt with docker, or with podman on its own machine");
    }
    auto command = build_command(engine, request);
    command.time_limit = call.limit;
    command.output_limit = kLargestLog / 2;
    BuildNarrator narrator;
    const auto tell = [&](std::string_view line) {
        if (call.tell && !line.empty()) call.tell(line);
    };
    command.on_line = [&](std::string_view line, bool) { tell(narrator.tell(line)); };
    CM_TRY(file::make_directories(call.log.parent_path()));
    auto pause = call.pause;
    for (unsigned attempt = 0;; ++attempt, pause *= 4) {
        CM_TRY_ASSIGN(const auto outcome, cudamatrix::run(command, call.cancellation));
        const auto output = outcome.err + outcome.out;
        CM_TRY(file::write(call.log, output));
        if (outcome.how == Ended::cancelled) return Failure{ExitCode::interrupted, {}};
        if (outcome.success()) return Done{};
        auto failure = failure_of(request, call, outcome, output);
        const bool again = attempt < call.retries && outcome.how == Ended::exited && heals_by_itself(output);
        if (!again) return failure;
        tell(fmt::format("{}; attempt {} of {} in {:.0f} s", failure.diagnostics.front().message, attempt + 2,
                         call.retries + 1, std::chrono::duration<double>(pause).count()));
        if (!waited(pause, call.cancellation)) return Failure{ExitCode::interrupted, {}};
    }
}

}  // namespace cudamatrix::job
