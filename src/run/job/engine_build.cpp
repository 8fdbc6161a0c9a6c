#include "run/job/engine_build.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"

namespace cudamatrix::job {
namespace {

bool names_an_error(std::string_view line) {
    const auto low = text::lower(line);
    for (const std::string_view sign : {"error:", "fatal:", "no matching distribution", "cannot connect"}) {
        if (low.find(sign) != std::string::npos) return true;
    }
    return low.starts_with("e: ");  // apt
}

// BuildKit's plain progress: "#6 0.120 /bin/sh: useradd: not found", "#6 ERROR: ...". The number names the
// step.
struct StepLine {
    std::string_view step;
    std::string_view text;
    bool failed = false;  ///< BuildKit's own ERROR, not a word of the step
};

std::optional<StepLine> step_line(std::string_view line) {
    const auto space = line.find(' ');
    if (!line.starts_with('#') || space == std::string_view::npos) return std::nullopt;
    StepLine out{line.substr(0, space), text::trim(line.substr(space + 1))};
    const auto time_end = out.text.find(' ');
    const auto first = out.text.substr(0, time_end);
    if (!first.empty() && first.find_first_not_of("0123456789.") == std::string_view::npos) {
        out.text =
            time_end == std::string_view::npos ? std::string_view() : text::trim(out.text.substr(time_end));
    } else {
        out.failed = out.text.starts_with("ERROR: ");
    }
    return out;
}

// What the failed step itself said: its last line that names an error, with the causes that uv names below
// it, else its last line.
std::string failed_step(const std::vector<std::string>& lines) {
    std::string_view failed;
    for (const auto& line : lines) {
        if (const auto at = step_line(line); at && at->failed) failed = at->step;
    }
    std::string last, error;
    for (const auto& line : lines) {
        const auto at = step_line(line);
        if (failed.empty() || !at || at->step != failed || at->text.empty() || at->failed ||
            at->text.starts_with("sha256:")) {
            continue;
        }
        last = at->text;
        constexpr std::string_view kCause = "cause: ";
        if (names_an_error(at->text)) {
            error = at->text;
        } else if (!error.empty() && at->text.starts_with(kCause)) {
            error += fmt::format(": {}", at->text.substr(kCause.size()));
        }
    }
    return error.empty() ? last : error;
}

// Programs of another machine were started, and no emulator is registered for them.
bool is_not_executable(std::string_view output) {
    return output.find("exec format error") != std::string_view::npos;
}

// What python, apt, uv and curl (which dnf and git use) say of a certificate that they do not trust; often
// lines before the one on which the build ends ("No matching distribution found").
std::string refused_certificate(std::string_view output) {
    const auto low = text::lower(output);
    for (const std::string_view sign : {"certificate verify failed", "certificate verification failed",
                                        "invalid peer certificate", "ssl certificate problem"}) {
        const auto at = low.find(sign);
        if (at == std::string::npos) continue;
        const auto said = output.substr(at, 120);
        return text::printable(text::trim(said.substr(0, said.find_first_of("'\"()[]\n", sign.size()))));
    }
    return {};
}

std::string deciding_line(std::string_view output) {
    const auto lines = text::split(output, '\n');
    if (auto said = failed_step(lines); !said.empty()) return said;
    std::string last, error, summary;
    for (const auto& line : lines) {
        // podman's own summary, behind what the step wrote to stderr and before all that went to stdout.
        if (summary.empty() && line.find("building at STEP") != std::string::npos) {
            summary = last.empty() ? text::trim(line) : last;
            continue;
        }
        // BuildKit repeats the failed step as an excerpt between dashes; its own summary comes last and says
        // least.
        const auto trimmed = text::trim(line);
        if (trimmed.empty() || trimmed.starts_with("---")) continue;
        last = trimmed;
        if (names_an_error(trimmed) && trimmed.find("executor failed running") == std::string::npos &&
            trimmed.find("did not complete successfully") == std::string::npos) {
            error = trimmed;
        }
    }
    if (!error.empty()) return error;
    return summary.empty() ? last : summary;
}

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

std::string BuildNarrator::tell(std::string_view line) {
    // podman: "[2/4] STEP 3/7: RUN apt-get update ..."; BuildKit: "#7 [devel 2/4] RUN apt-get update ...",
    // the number of the vertex, then its name in brackets.
    if (line.empty()) return {};
    const auto blank = line.find(' ');
    const bool step =
        line.starts_with("STEP ") || (line.front() == '[' && line.find("] STEP ") != std::string_view::npos);
    if (!step && (line.front() != '#' || blank == std::string_view::npos)) return {};
    const auto rest = step ? line : line.substr(blank + 1);
    const bool error = rest.substr(0, 6) == "ERROR:";
    if (!step && !error && (rest.empty() || rest.front() != '[' || rest.substr(0, 10) == "[internal]"))
        return {};
    constexpr std::size_t kWidth = 100;
    auto told = text::printable(rest.substr(0, kWidth));
    if (told == last_) return {};
    last_ = told;
    return told;
}

std::string build_error(std::string_view output) {
    auto said = text::printable(deciding_line(output).substr(0, 300));
    if (const auto refused = refused_certificate(output); !refused.empty()) {
        said += fmt::format("; a certificate was not trusted ({}): name your site's by --ca-bundle FILE",
                            refused);
    }
    return said;
}

Status engine_build(const engine::Engine& engine, const engine::BuildRequest& request, const BuildCall& call,
                    Ticker& ticker) {
    auto with_proxies = request;
    for (const auto name : kProxies) {
        const auto found = engine.environment.find(std::string(name));
        if (found != engine.environment.end() && !found->second.empty())
            with_proxies.forwarded.emplace_back(name);
    }
    if (!request.export_to.empty() && !engine.exports) {
        return environment_failure(
            fmt::format("{}: engine {} works through a service here, and such builds write no files out",
                        call.what, engine.name()),
            "lock and attempt with docker, or with podman on its own machine");
    }
    auto command = engine.build_command(std::move(with_proxies));
    command.time_limit = call.limit;
    command.output_limit = 32u << 20;
    BuildNarrator narrator;
    command.on_line = [&](std::string_view line, bool) {
        if (const auto told = narrator.tell(line); !told.empty())
            ticker.say(fmt::format("  {}: {}", call.what, told));
    };
    CM_TRY_ASSIGN(const auto outcome, cudamatrix::run(command, call.cancellation));
    const auto output = outcome.err + outcome.out;
    CM_TRY(file::make_directories(call.log.parent_path()));
    CM_TRY(file::write(call.log, output));
    if (outcome.how == Ended::cancelled) return Failure{ExitCode::interrupted, {}};
    if (outcome.success()) return Done{};
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

namespace {

constexpr std::string_view kHead = "# branch.oid ";

bool is_commit(std::string_view text) {
    const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    return (text.size() == 40 || text.size() == 64) && std::ranges::all_of(text, is_hex);
}

SourceRevision none(std::string why) {
    return {{}, std::move(why)};
}

class Git {
  public:
    Git(const std::filesystem::path& folder, const Environment& environment, const Cancellation* cancellation)
        : folder_(folder.string()), environment_(environment), cancellation_(cancellation) {
        environment_["LC_ALL"] = "C";
    }

    // A monitor of the file system is a program that the repository names.
    Result<Outcome> ask(const std::vector<std::string>& question) const {
        Command command;
        command.argv = {
            "git", "--no-optional-locks", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-C", folder_};
        command.argv.insert(command.argv.end(), question.begin(), question.end());
        command.environment = environment_;
        command.time_limit = std::chrono::seconds(60);
        return run(command, cancellation_);
    }

  private:
    std::string folder_;
    Environment environment_;
    const Cancellation* cancellation_;
};

std::string reason(const Result<Outcome>& answer) {
    if (!answer.ok()) return "git could not be asked";
    if (answer->how != Ended::exited) return "git: " + answer->describe();
    const auto lines = text::split(text::trim(answer->err), '\n');
    return "git: " + text::printable(text::trim(lines.front()));
}

}  // namespace

SourceRevision source_revision(const std::filesystem::path& folder, const std::vector<std::string>& files,
                               const Environment& environment, const Cancellation* cancellation) {
    if (!find_program("git", environment)) return none("there is no git on PATH");
    const Git git(folder, environment, cancellation);
    const auto known = git.ask({"ls-files", "--", files.front()});
    if (!known.ok() || !known->success()) return none(reason(known));
    if (known->out.empty()) return none("git does not know the matrix file");

    std::vector<std::string> question{"status", "--porcelain=v2", "--branch", "--"};
    question.insert(question.end(), files.begin(), files.end());
    const auto status = git.ask(question);
    if (!status.ok() || !status->success()) return none(reason(status));
    SourceRevision found;
    bool dirty = false;
    for (const auto& line : text::split(status->out, '\n')) {
        if (line.starts_with(kHead)) found.id = line.substr(kHead.size());
        if (!line.empty() && line.front() != '#') dirty = true;
    }
    if (!is_commit(found.id)) return none("git: there is no commit yet");
    if (dirty) found.id += "-dirty";
    return found;
}

}  // namespace cudamatrix::job
