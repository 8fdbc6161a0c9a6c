#include "run/engine_build.hpp"

#include "base/file.hpp"
#include "base/text.hpp"

namespace cudamatrix::job {
namespace {

bool names_an_error(std::string_view line) {
    const auto low = text::lower(line);
    for (const std::string_view sign :
         {"error:", "e: ", "fatal:", "no matching distribution", "cannot connect"}) {
        if (low.find(sign) != std::string::npos) return true;
    }
    return false;
}

bool unreachable(std::string_view output) {
    return text::lower(output).find("cannot connect to the docker daemon") != std::string::npos;
}

}  // namespace

std::string build_error(std::string_view output) {
    constexpr std::size_t kLongest = 300;
    std::string last;
    std::string error;
    for (const auto& line : text::split(output, '\n')) {
        const auto trimmed = text::trim(line);
        // BuildKit repeats the failed step as an excerpt between dashes; its own summary comes last and says
        // least.
        if (trimmed.empty() || trimmed.substr(0, 3) == "---") continue;
        last = trimmed;
        if (names_an_error(trimmed) && trimmed.find("executor failed running") == std::string::npos &&
            trimmed.find("did not complete successfully") == std::string::npos) {
            error = trimmed;
        }
    }
    return text::printable((error.empty() ? last : error).substr(0, kLongest));
}

Status engine_build(const engine::Engine& engine, const engine::BuildRequest& request, const BuildCall& call,
                    Ticker& ticker) {
    auto command = engine.command(engine.dialect->build(request));
    command.time_limit = call.limit;
    command.output_limit = 32u << 20;
    BuildNarrator narrator;
    command.on_line = [&](std::string_view line, bool) {
        if (const auto told = narrator.tell(line); !told.empty())
            ticker.say(fmt::format("  {}: {}", call.what, told));
    };
    const auto outcome = cudamatrix::run(command, call.cancellation);
    if (!outcome.ok()) return outcome.failure();
    const auto output = outcome->err + outcome->out;
    if (auto made = file::make_directories(call.log.parent_path()); !made.ok()) return made;
    if (auto written = file::write(call.log, output); !written.ok()) return written.failure();
    if (outcome->how == Ended::cancelled) return Failure{ExitCode::interrupted, {}};
    if (outcome->success()) return Done{};
    const auto code = unreachable(output) ? ExitCode::environment : ExitCode::findings;
    auto reason = outcome->how == Ended::exited ? build_error(output) : outcome->describe();
    if (reason.empty()) reason = outcome->describe();
    return Failure{code,
                   {Diagnostic::error(fmt::format("{}: the build failed: {}", call.what, reason))
                        .with_note("log: " + text::printable(call.log.string()))}};
}

}  // namespace cudamatrix::job
