#include "run/job/engine_build.hpp"

#include <algorithm>
#include <optional>
#include <system_error>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"

namespace cudamatrix::job {
namespace {

namespace fs = std::filesystem;

// Beside each tar lies a note of how it was made: a tar without a fitting note is not trusted.
std::string note(const Bootstrap& bootstrap, const std::string& digest) {
    auto environment = Json::array();
    for (const auto& [name, value] : bootstrap.environment)
        environment.push_back(name + "=" + value);
    return to_text(Json{{"command", bootstrap.command}, {"environment", environment}, {"sha256", digest}}) +
           "\n";
}

bool is_complete(const Bootstrap& bootstrap, const fs::path& tar, std::string& digest) {
    std::error_code error;
    if (!fs::is_regular_file(tar, error)) return false;
    const auto written = file::read(tar.string() + ".json", 64u << 10);
    if (!written.ok()) return false;
    const auto found = sha256_of_file(tar);
    if (!found.ok() || *written != note(bootstrap, *found)) return false;
    digest = *found;
    return true;
}

// A tar and its note, each as it is called and as it is called while it waits for settle_bootstrap.
std::vector<std::pair<fs::path, fs::path>> kept_files(const Bootstrap& bootstrap, const fs::path& folder) {
    std::vector<std::pair<fs::path, fs::path>> out;
    for (const auto* ending : {"", ".json"})
        out.emplace_back(folder / (bootstrap.file + ending), folder / ("before-" + bootstrap.file + ending));
    return out;
}

Failure not_moved(const fs::path& from, const fs::path& to, const std::error_code& error) {
    return environment_failure(fmt::format("cannot rename {} to {}: {}", text::printable(from.string()),
                                           text::printable(to.string()), error.message()));
}

// A file that is not there needs no move.
Status move_existing(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::rename(from, to, error);
    if (error && error != std::errc::no_such_file_or_directory) return not_moved(from, to, error);
    return Done{};
}

// The line of stderr that says most: the last one that begins with E:, else the last one.
std::string reason_of(const Outcome& outcome) {
    std::string last;
    std::string error;
    for (const auto& line : text::split(outcome.err, '\n')) {
        const auto trimmed = text::trim(line);
        if (trimmed.empty()) continue;
        last = trimmed;
        if (trimmed.substr(0, 2) == "E:") error = trimmed;
    }
    return text::printable(error.empty() ? last : error);
}

// mmdebstrap's words where this machine cannot run the programs of the base.
bool is_foreign(std::string_view reason) {
    return reason.find("foreign architecture") != std::string_view::npos ||
           reason.find("can neither be executed natively") != std::string_view::npos;
}

}  // namespace

bool is_of_snapshot(const std::vector<std::string>& command) {
    return std::ranges::any_of(command, [](const std::string& word) {
        return word.find("check-valid-until=no") != std::string::npos;
    });
}

namespace {

std::string fix_of(const Bootstrap& bootstrap, std::string_view reason) {
    if (is_foreign(reason))
        return "bootstrap it on a machine of that architecture, or register an emulator (Debian, Ubuntu: "
               "apt-get install arch-test qemu-user-static binfmt-support)";
    // Archives withdraw a suite some time after its end of life; what takes from a snapshot asks for its
    // state then.
    if (reason.find("404") != std::string_view::npos && !is_of_snapshot(bootstrap.command))
        return fmt::format(
            "its archive no longer has {}: build: {{snapshot: DATE}} in the matrix file takes it "
            "as it was on that day",
            bootstrap.base);
    return "check the network, the proxy variables and the mirrors of the matrix file";
}

Command command_for(const Bootstrap& bootstrap, const BootstrapContext& context, const fs::path& output) {
    Command command;
    command.argv = bootstrap.command;
    for (auto& argument : command.argv) {
        argument = text::replace_all(argument, "{output}", output.string());
        argument = text::replace_all(argument, "{ca_bundle}", bootstrap.ca_bundle);
        argument = text::replace_all(argument, "{netrc}", bootstrap.netrc);
    }
    command.environment = context.environment;
    for (const auto& [name, value] : bootstrap.environment)
        command.environment[name] = value;
    command.time_limit = context.limit;
    command.output_limit = 1u << 20;
    return command;
}

// mmdebstrap tells the format by the name's end, so the partial file ends in .tar as well.
fs::path partial_of(const Bootstrap& bootstrap, const BootstrapContext& context) {
    return context.folder / ("partial-" + bootstrap.file);
}

Status make(const Bootstrap& bootstrap, const BootstrapContext& context, const fs::path& partial) {
    const auto command = command_for(bootstrap, context, partial);
    const auto& program = command.argv.front();
    if (!find_program(program, command.environment)) {
        return environment_failure(
            fmt::format("the base of {} cannot be bootstrapped: {} is not on PATH", bootstrap.base, program),
            fmt::format("install it (Debian, Ubuntu: apt-get install {})", program));
    }
    CM_TRY_ASSIGN(const auto outcome, cudamatrix::run(command, context.cancellation));
    if (outcome.how == Ended::cancelled) return Failure{ExitCode::interrupted, {}};
    if (!outcome.success()) {
        const auto reason = reason_of(outcome);
        const bool too_long = outcome.how == Ended::timed_out;
        return environment_failure(
            fmt::format("the base of {} cannot be bootstrapped: {}: {}{}{}", bootstrap.base, program,
                        outcome.describe(), reason.empty() ? "" : ": ", reason),
            too_long ? "check the network, or give it longer: --build-timeout MINUTES"
                     : fix_of(bootstrap, reason));
    }
    return Done{};
}

}  // namespace

std::optional<Command> bootstrap_command(const Bootstrap& bootstrap, const BootstrapContext& context) {
    std::string digest;
    if (bootstrap.command.empty() || is_complete(bootstrap, context.folder / bootstrap.file, digest))
        return std::nullopt;
    return command_for(bootstrap, context, partial_of(bootstrap, context));
}

Result<BootstrapTar> ensure_bootstrap(const Bootstrap& bootstrap, const BootstrapContext& context) {
    if (bootstrap.command.empty())
        return environment_failure("there is no bootstrap command for " + bootstrap.base);
    BootstrapTar tar;
    tar.path = context.folder / bootstrap.file;
    if (!context.anew && is_complete(bootstrap, tar.path, tar.sha256)) {
        tar.reused = true;
        return tar;
    }
    CM_TRY(file::make_directories(context.folder));
    if (context.progress) context.progress(fmt::format("bootstrapping {} (about 20 s)", bootstrap.base));

    const auto partial = partial_of(bootstrap, context);
    std::error_code error;
    const auto abandon = [&](Failure failure) {
        fs::remove(partial, error);
        return failure;
    };
    if (auto made = make(bootstrap, context, partial); !made.ok()) return abandon(made.failure());
    const auto digest = sha256_of_file(partial);
    if (!digest.ok()) return abandon(digest.failure());
    tar.sha256 = *digest;
    // What is half done is undone: the tar that was there stays, with its note.
    const auto undone = [&](Failure failure) {
        if (context.anew) static_cast<void>(settle_bootstrap(bootstrap, context.folder, true));
        return abandon(std::move(failure));
    };
    if (context.anew) {
        for (const auto& [now, before] : kept_files(bootstrap, context.folder)) {
            if (auto moved = move_existing(now, before); !moved.ok()) return undone(moved.failure());
        }
    }
    fs::rename(partial, tar.path, error);
    if (error) return undone(not_moved(partial, tar.path, error));
    if (auto noted = file::write(tar.path.string() + ".json", note(bootstrap, tar.sha256)); !noted.ok())
        return undone(noted.failure());
    return tar;
}

Status settle_bootstrap(const Bootstrap& bootstrap, const fs::path& folder, bool back) {
    for (const auto& [now, before] : kept_files(bootstrap, folder)) {
        if (back) {
            CM_TRY(move_existing(before, now));  // the note follows the tar, or stays with it
            continue;
        }
        std::error_code error;
        fs::remove(before, error);
        if (error)
            return environment_failure(
                fmt::format("cannot remove {}: {}", text::printable(before.string()), error.message()));
    }
    return Done{};
}

}  // namespace cudamatrix::job
