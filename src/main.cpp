// The program: the table of commands on top of CLI11, signals, and nothing else.
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <exception>
#include <optional>
#include <sstream>
#include <string_view>

#include "base/build_info.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "commands/command_line.hpp"
#include "commands/common.hpp"
#include "knowledge/facts/facts.hpp"

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

extern char** environ;

namespace {

using namespace cudamatrix;

Cancellation cancellation;  // the one global: a signal handler can reach nothing else

extern "C" void on_signal(int) {
    if (cancellation.requested())
        _exit(static_cast<int>(ExitCode::interrupted));  // the second signal exits at once
    cancellation.request();
}

std::string utc(const char* format) {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    gmtime_r(&now, &parts);
    char buffer[32];
    return std::string(buffer, std::strftime(buffer, sizeof buffer, format, &parts));
}

// What COLUMNS says, else the terminal; nothing in a pipe.
std::optional<std::size_t> columns_of_terminal(std::string_view variable, int stream) {
    const auto columns = text::whole_number<std::size_t>(variable);
    if (columns && *columns != 0) return columns;
    winsize size{};
    if (ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) return size.ws_col;
    return std::nullopt;
}

World world_of_this_process() {
    World world;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        if (const auto equals = text.find('='); equals != std::string_view::npos && equals != 0) {
            world.environment.emplace(text.substr(0, equals), text.substr(equals + 1));
        }
    }
    world.today = utc("%Y-%m-%d");
    world.run_id = fmt::format("{}-{}", utc("%Y%m%dT%H%M%SZ"), static_cast<long>(getpid()));
    const auto set = [&](const char* name) {
        const auto found = world.environment.find(name);
        return found != world.environment.end() && !found->second.empty();
    };
    const bool wanted = !set("NO_COLOR") && world.environment["TERM"] != "dumb";
    world.colour_out = wanted && isatty(STDOUT_FILENO) == 1;
    world.colour_err = wanted && isatty(STDERR_FILENO) == 1;
    world.live_err = world.environment["TERM"] != "dumb" && isatty(STDERR_FILENO) == 1;
    world.columns_err = columns_of_terminal(world.environment["COLUMNS"], STDERR_FILENO).value_or(80);
    if (const auto columns = columns_of_terminal(world.environment["COLUMNS"], STDOUT_FILENO)) {
        world.columns = *columns;
        world.has_columns = true;
    }
    utsname system{};
    if (uname(&system) == 0) world.arch = system.machine;
#ifdef __GLIBC__
    world.glibc = gnu_get_libc_version();
#endif
    world.cancellation = &cancellation;
    return world;
}

constexpr std::string_view kNextStep =
    "cudamatrix judges, renders, builds and proves matrices of GPU base images.\n"
    "\n"
    "Type next:\n"
    "  cudamatrix check matrix.yaml     which combinations can work, and why the others cannot\n"
    "  cudamatrix run matrix.yaml       build the good ones and prove each with CUDA kernels\n"
    "  cudamatrix --help                all commands\n"
    "\n"
    "No matrix yet? Save this as matrix.yaml:\n"
    "  version: 1\n"
    "  axes:\n"
    "    driver: [\"470.161.03\", \"550\"]\n"
    "    gpu: [T4, H100]\n"
    "    cuda: [\"11.8\", \"12.4.1\"]\n";

// "static, x86_64, clang 18.1.6, commit 0123456789ab".
std::string build() {
#ifdef CUDAMATRIX_STATIC
    constexpr std::string_view kind = "static";
#else
    constexpr std::string_view kind = "dynamic";
#endif
#if defined(__x86_64__)
    constexpr std::string_view arch = "x86_64";
#elif defined(__aarch64__)
    constexpr std::string_view arch = "aarch64";
#else
    constexpr std::string_view arch = "another processor";
#endif
#ifdef __clang__
    const auto compiler =
        fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    const auto compiler = fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
    constexpr std::string_view commit = CUDAMATRIX_COMMIT;
    return fmt::format("{}, {}, {}, {}", kind, arch, compiler,
                       commit.empty() ? "no commit known" : fmt::format("commit {}", commit));
}

// The words of a command that was given, "facts" "show", on the way to where parsing came.
std::vector<std::string> words_of(const CLI::App& app) {
    std::vector<std::string> words;
    for (const CLI::App* at = &app; at->get_parent() != nullptr; at = at->get_parent())
        words.insert(words.begin(), at->get_name());
    return words;
}

std::string help_of(const CLI::App& app, const World& world) {
    const auto whole = command_line_of(app);
    const auto command = whole.find(words_of(app));
    return help_text(command.ok() ? *command.value() : whole, help_columns(world.columns));
}

// What is wrong with the command line, and what may have been meant.
std::string usage_mistake(const CLI::App* app, const CLI::Error& error) {
    const CLI::App* at = app;
    while (!at->get_subcommands().empty())
        at = at->get_subcommands().front();
    const auto whole = command_line_of(*app);
    const auto found = whole.find(words_of(*at));
    const auto& command = found.ok() ? *found.value() : whole;
    for (const auto& word : app->remaining(true)) {
        const auto name = word.substr(0, word.find('='));
        const bool option = name.starts_with("-");
        std::vector<std::string> names;
        for (const auto& one : command.options) {
            if (option && !one.positional) names.push_back(one.name);
        }
        for (const auto& one : command.subcommands) {
            if (!option) names.push_back(one.name);
        }
        if (names.empty()) continue;
        return fmt::format("cudamatrix: error: unknown {} \"{}\"\n  fix: {}\n", option ? "option" : "command",
                           text::printable(name),
                           text::did_you_mean_or(name, names,
                                                 fmt::format("`{} --help` lists the {}", command.path,
                                                             option ? "options" : "commands")));
    }
    return fmt::format("{}\nRun `{} --help` for more information.\n", error.what(), command.path);
}

ExitCode program(int argc, char** argv) {
    const auto world = world_of_this_process();
    CLI::App app("Judge, render, build and prove matrices of GPU base images.", "cudamatrix");
    app.require_subcommand(0, 1);
    app.formatter(
        std::make_shared<CLI::FormatterLambda>([&](const CLI::App* asked, const std::string&,
                                                   CLI::AppFormatMode) { return help_of(*asked, world); }));
    app.failure_message(usage_mistake);
    app.footer(
        "Exit codes: 0 nothing to act on; 1 findings or failures; 2 bad input or usage; 3 environment or "
        "I/O;\n"
        "4 passed as far as possible without a GPU; 130 interrupted.\n"
        "Example: cudamatrix check matrix.yaml");
    bool version = false;
    app.add_flag("--version", version,
                 "Print version, date and hash of the facts, and how this program was built");

    std::vector<std::pair<CLI::App*, Action>> actions;
    for (const auto& row : all_commands()) {
        auto* command = app.add_subcommand(std::string(row.name), std::string(row.summary));
        command->footer(fmt::format("{}\n\nExample: {}", row.details, row.example));
        actions.emplace_back(command, row.add(Arguments(*command)));
    }
    try {
        auto words = each_host_alone({argv + 1, argv + argc});
        std::reverse(words.begin(), words.end());  // CLI11 takes them from the end
        app.parse(std::move(words));
    } catch (const CLI::ParseError& error) {
        // --help is an error to CLI11 with exit code 0; every other one is wrong usage.
        std::ostringstream shown, mistake;
        const int code = app.exit(error, shown, mistake);
        print(shown.str());
        tell(mistake.str());
        if (code == 0) return ExitCode::success;
        // `--update images m.yaml` reads as two matrix files.
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) &&
            std::count(argv, argv + argc, std::string_view("--update")) > 0)
            tell("--update takes its value after '=': --update=images\n");
        return ExitCode::bad_input;
    }
    if (version) {
        const auto facts = Facts::embedded();
        print(fmt::format("cudamatrix {}\nfacts {} {}\nbuild {}\n", kVersion, facts.date(), facts.hash(),
                          build()));
        return ExitCode::success;
    }
    for (const auto& [command, run] : actions) {
        if (!command->parsed()) continue;
        const auto done = run(world);
        const auto code = done.ok() ? done.value() : report_failure(done.failure(), world);
        return cancellation.requested() ? ExitCode::interrupted : code;
    }
    print(kNextStep);
    return ExitCode::success;
}

}  // namespace

int main(int argc, char** argv) {
    open_streams();
    struct sigaction action {};
    action.sa_handler = on_signal;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        sigaction(signal, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return static_cast<int>(after_streams(program(argc, argv)));
    } catch (const std::exception& error) {
        // What no room expects: no memory, no thread.
        tell(fmt::format("cudamatrix: error: cannot go on: {}\n", text::printable(error.what())));
        return static_cast<int>(ExitCode::environment);
    }
}
