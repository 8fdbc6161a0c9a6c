#include "base/process.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/text.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

// The shell is the subject's child here, never its tool: it is the shortest way to a process that misbehaves
// as asked.
Command script(const std::string& text, std::chrono::milliseconds time_limit = 20s,
               std::chrono::milliseconds grace = 300ms) {
    Command command;
    command.argv = {"/bin/sh", "-c", text};
    command.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
    command.time_limit = time_limit;
    command.grace = grace;
    return command;
}

Command flood(const std::string& text, std::uint64_t limit, bool stop) {
    auto command = script(text);
    command.output_limit = limit;
    command.stop_on_flood = stop;
    return command;
}

Outcome outcome_of(const Command& command, const Cancellation* cancellation = nullptr) {
    auto result = run(command, cancellation);
    REQUIRE(result.ok());
    return std::move(*result);
}

std::string error_of(const Command& command) {
    const auto result = run(command);
    REQUIRE_FALSE(result.ok());
    CHECK(result.failure().code == ExitCode::environment);
    return result.failure().diagnostics.front().message;
}

// What /proc says about process `pid`: its parent and its state letter; nullopt when there is no such
// process.
struct ProcStat {
    int parent;
    char state;
};
std::optional<ProcStat> proc_stat(const std::string& pid) {
    std::ifstream in("/proc/" + pid + "/stat");
    std::string line;
    if (!std::getline(in, line)) return std::nullopt;
    const auto rest = text::split(line.substr(line.rfind(')') + 2), ' ');
    return ProcStat{std::stoi(rest[1]), rest[0][0]};
}

std::size_t zombie_children() {
    std::size_t zombies = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const auto name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        const auto stat = proc_stat(name);
        if (stat && stat->parent == ::getpid() && stat->state == 'Z') ++zombies;
    }
    return zombies;
}

std::size_t open_files() {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

// Living processes that have this in their environment, as all descendants of a command have it that got it.
std::size_t processes_with(const std::string& variable) {
    std::size_t found = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        std::ifstream in(entry.path() / "environ", std::ios::binary);
        const std::string all((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
        if (all.find(variable) != std::string::npos) ++found;
    }
    return found;
}

bool alive(const std::string& pid) {
    const auto stat = proc_stat(std::string(text::trim(pid)));
    return stat && stat->state != 'Z';
}

// A process dies a moment after the signal: wait for that moment, not for a fixed time.
bool vanishes(const std::string& pid) {
    for (int i = 0; i < 3000 && alive(pid); ++i)
        std::this_thread::sleep_for(10ms);
    return !alive(pid);
}

}  // namespace

TEST_CASE("process: every exit code comes back as it is") {
    for (const int code : {0, 1, 2, 3, 77, 124, 127, 255}) {
        const auto outcome = outcome_of(script("exit " + std::to_string(code)));
        CHECK(outcome.how == Ended::exited);
        CHECK(outcome.exit_code == code);
        CHECK(outcome.success() == (code == 0));
        CHECK(outcome.describe() == "exit code " + std::to_string(code));
    }
}

TEST_CASE("process: a signal is told apart from an exit code") {
    for (const int number : {SIGKILL, SIGSEGV, SIGTERM, SIGABRT}) {
        const auto outcome = outcome_of(script("ulimit -c 0; kill -" + std::to_string(number) + " $$"));
        CHECK(outcome.how == Ended::signalled);
        CHECK(outcome.signal == number);
        CHECK_FALSE(outcome.success());
        CHECK(outcome.describe() == "killed by signal " + std::to_string(number));
    }
}

TEST_CASE("process: both streams are kept apart and complete, however they interleave") {
    // More than a pipe holds on both at once: a reader that drains one after the other would deadlock.
    const auto outcome =
        outcome_of(script("i=0; while [ $i -lt 3000 ]; do echo out-0123456789012345678901234567890123456789; "
                          "echo err-0123456789012345678901234567890123456789 >&2; i=$((i+1)); done"));
    CHECK(outcome.success());
    CHECK(outcome.out.size() == 3000u * 45u);
    CHECK(outcome.err.size() == 3000u * 45u);
    CHECK(outcome.out.find("err") == std::string::npos);
    CHECK(outcome.err.find("out") == std::string::npos);
}

TEST_CASE("process: lines are given as they come, the last one without a newline too") {
    std::vector<std::string> out;
    std::vector<std::string> err;
    auto command = script("printf 'one\\n\\ntwo'; printf 'bad\\n' >&2");
    command.on_line = [&](std::string_view line, bool is_stderr) {
        (is_stderr ? err : out).emplace_back(line);
    };
    const auto outcome = outcome_of(command);
    CHECK(out == std::vector<std::string>{"one", "", "two"});
    CHECK(err == std::vector<std::string>{"bad"});
    CHECK(outcome.out == "one\n\ntwo");
}

TEST_CASE("process: a line of 10 MB is cut and does not grow the memory of the reader") {
    std::size_t longest = 0;
    std::size_t lines = 0;
    auto command = script("head -c 10000000 /dev/zero | tr '\\0' x; echo; echo end");
    command.output_limit = 1000;
    command.on_line = [&](std::string_view line, bool) {
        longest = std::max(longest, line.size());
        ++lines;
    };
    const auto outcome = outcome_of(command);
    CHECK(outcome.success());
    CHECK(longest == 64 * 1024);
    CHECK(lines == 2);
    CHECK(outcome.out.size() == 1000);
}

TEST_CASE("process: standard input is written in full and closed; without input it ends at once") {
    auto command = script("cat");
    command.input = std::string(500'000, 'i');
    CHECK(outcome_of(command).out == command.input);
    CHECK(outcome_of(script("cat; echo done")).out == "done\n");
}

TEST_CASE("process: a child that does not read its input does not end us by SIGPIPE") {
    auto command = script("exec 0<&-; exit 5");
    command.input = std::string(4'000'000, 'i');
    for (int i = 0; i < 5; ++i)
        CHECK(outcome_of(command).exit_code == 5);
    sigset_t pending;
    ::sigemptyset(&pending);
    ::sigpending(&pending);
    CHECK(::sigismember(&pending, SIGPIPE) == 0);
}

TEST_CASE("process: time-out ends a child that obeys SIGTERM within the grace") {
    const auto command = script("exec sleep 60", 200ms, 50s);
    const auto outcome = outcome_of(command);
    CHECK(outcome.how == Ended::timed_out);
    CHECK(outcome.elapsed >= 200ms);
    CHECK(outcome.elapsed < 50s);
    CHECK(outcome.describe() == "timed out after 0 s");
}

TEST_CASE("process: time-out kills a child that ignores SIGTERM after the grace, and keeps its output") {
    const auto command = script("echo before; trap '' TERM; while :; do sleep 0.05; done", 2s,
                                500ms);  // a busy machine needs some of it to get to the trap
    const auto outcome = outcome_of(command);
    CHECK(outcome.how == Ended::timed_out);
    CHECK(outcome.elapsed >= 2500ms);
    CHECK(outcome.out == "before\n");
}

TEST_CASE("process: descendants die with the group") {
    SUBCASE("in the background after a normal end") {
        const auto outcome = outcome_of(script("sleep 60 >/dev/null 2>&1 & echo $!"));
        CHECK(outcome.success());
        CHECK(vanishes(outcome.out));
    }
    SUBCASE("a grandchild that ignores SIGTERM, on time-out") {
        const auto command =
            script("(trap '' TERM; while :; do sleep 0.05; done) & echo $!; wait", 2s, 200ms);
        const auto outcome = outcome_of(command);
        CHECK(outcome.how == Ended::timed_out);
        CHECK(vanishes(outcome.out));
    }
    SUBCASE("double fork: the grandchild has lost its parent, but not its group") {
        const auto outcome = outcome_of(script("(sleep 60 >/dev/null 2>&1 & echo $!) & wait"));
        CHECK(vanishes(outcome.out));
    }
}

TEST_CASE("process: a descendant that holds the pipes open does not hold us") {
    // setsid leaves the group, so nobody may kill it for us; the pipes are let go of after a moment.
    const auto outcome = outcome_of(script("setsid sleep 60 & echo started"));
    CHECK(outcome.success());
    CHECK(outcome.out == "started\n");
    CHECK(outcome.elapsed < 50s);
}

TEST_CASE("process: a flood is read and dropped beyond the limit; exactly the limit is none") {
    for (const bool beyond : {true, false}) {
        const auto outcome = outcome_of(
            flood(beyond ? "head -c 50000000 /dev/zero" : "head -c 10000 /dev/zero", 10'000, !beyond));
        CHECK(outcome.how == Ended::exited);
        CHECK(outcome.out.size() == 10'000);
    }
}

TEST_CASE("process: a flood ends the child where that is asked for") {
    for (const auto* text : {"exec cat /dev/zero", "exec cat /dev/zero >&2"}) {
        const auto outcome = outcome_of(flood(text, 10'000, true));
        CHECK(outcome.how == Ended::flooded);
        CHECK(outcome.out.size() + outcome.err.size() == 10'000);
        CHECK(outcome.describe() == "stopped: it wrote more output than is allowed");
    }
}

TEST_CASE("process: cancellation ends the child and says so") {
    Cancellation cancellation;
    auto command = script("exec sleep 60");
    std::thread later([&] {
        std::this_thread::sleep_for(200ms);
        cancellation.request();
    });
    const auto outcome = outcome_of(command, &cancellation);
    later.join();
    CHECK(outcome.how == Ended::cancelled);
    CHECK(outcome.elapsed < 50s);
    CHECK(outcome.describe() == "interrupted");
}

TEST_CASE("process: the working directory is the one asked for") {
    const test::TempFolder scratch;
    auto command = script("pwd -P");
    command.working_directory = scratch.path().string();
    CHECK(outcome_of(command).out == fs::canonical(scratch.path()).string() + "\n");
}

TEST_CASE("process: the environment is what was given and nothing of ours") {
    ::setenv("CUDAMATRIX_TEST_LEAK", "leaked", 1);
    auto command = script("");
    command.argv = {"/usr/bin/env"};
    command.environment = {{"A", "1"}, {"B", "two words"}};
    CHECK(outcome_of(command).out == "A=1\nB=two words\n");
    ::unsetenv("CUDAMATRIX_TEST_LEAK");
}

TEST_CASE("process: arguments arrive as they are; no shell sees them") {
    Command command = script("");
    command.argv = {"/usr/bin/printf", "%s|", "a b", "$HOME", "*", "'", "", "x;y"};
    CHECK(outcome_of(command).out == "a b|$HOME|*|'||x;y|");
}

TEST_CASE("process: a program that cannot be started is a failure that names it") {
    const std::pair<std::vector<std::string>, std::string> cases[] = {
        {{"no-such-program"}, "cannot run no-such-program: it was not found in PATH"},
        {{"/nonexistent/program"}, "cannot run /nonexistent/program: it was not found in PATH"},
        {{"/usr"}, "cannot run /usr: it was not found in PATH"},
        {{"\x1b[31mred"}, "cannot run ?[31mred: it was not found in PATH"},
        {{}, "no program to run was given"}};
    for (const auto& [argv, message] : cases) {
        Command command = script("");
        command.argv = argv;
        CHECK(error_of(command) == message);
    }
    auto command = script("pwd");
    command.working_directory = "/nonexistent/folder";
    CHECK(error_of(command) == "cannot run /bin/sh: No such file or directory");
}

TEST_CASE(
    "process: a file that is no program fails at exec, without a zombie and without our buffers written "
    "twice") {
    const test::TempFolder scratch;
    const auto path = scratch.put("garbage", "\177ELF but no more", true);
    Command command = script("");
    command.argv = {path.string()};
    const auto zombies = zombie_children();
    const auto marker = scratch / "buffer";
    std::FILE* buffered = std::fopen(marker.c_str(), "w");
    REQUIRE(buffered != nullptr);
    std::fputs("once", buffered);  // stays in our buffer: a child that ends by exit() would write it too
    CHECK(error_of(command) == "cannot run " + path.string() + ": Exec format error");
    CHECK(fs::file_size(marker) == 0);
    std::fclose(buffered);
    CHECK(fs::file_size(marker) == 4);
    CHECK(zombie_children() == zombies);
}

TEST_CASE("process: find_program walks the PATH given and refuses what execvp would not run") {
    const test::TempFolder scratch;
    const auto plain = scratch.put("tool", "#!/bin/sh\n");
    const Environment environment{{"PATH", ":relative:" + scratch.path().string() + ":/usr/bin:/bin"}};
    CHECK_FALSE(find_program("tool", environment).has_value());  // not executable
    fs::permissions(plain, fs::perms::owner_all);
    CHECK(find_program("tool", environment) == plain.string());
    CHECK_FALSE(find_program("tool", {{"PATH", "/usr/bin"}}).has_value());
    CHECK(find_program("sh", {}).has_value());  // no PATH at all: the system's
    CHECK_FALSE(find_program("", environment).has_value());
    fs::create_directory(scratch / "folder");
    CHECK_FALSE(find_program("folder", environment).has_value());
}

TEST_CASE("process: a relative PATH entry is not searched") {
    const test::TempFolder scratch;
    scratch.put("tool", "#!/bin/sh\n", true);
    const auto before = fs::current_path();
    fs::current_path(scratch.path());
    CHECK_FALSE(find_program("tool", {{"PATH", ".:"}}).has_value());
    fs::current_path(before);
}

// By hand 1000 runs: CUDAMATRIX_PROCESS_RUNS=1000 unit_base -tc='process: many*'.
TEST_CASE(
    "process: many runs of every kind leave no process and no open file, from several threads at once") {
    constexpr std::size_t kThreads = 4;
    const auto* asked = std::getenv("CUDAMATRIX_PROCESS_RUNS");
    const auto rounds = (asked == nullptr ? 96 : std::stoul(asked)) / kThreads;
    const auto files = open_files();
    const auto zombies = zombie_children();
    std::atomic<int> wrong{0};
    std::vector<std::pair<Command, Ended>> kinds{
        {script("exit 3"), Ended::exited},
        {script("kill -9 $$"), Ended::signalled},
        {script("exec sleep 30", 50ms), Ended::timed_out},
        {flood("exec cat /dev/zero", 1000, true), Ended::flooded},
        {script("sleep 30 >/dev/null 2>&1 &"), Ended::exited},
        {script("(sleep 30 &) ; exit 0"), Ended::exited},
        {script("trap '' TERM; while :; do sleep 0.02; done", 50ms, 50ms), Ended::timed_out},
        {script(""), Ended::refused}};
    kinds.back().first.argv = {"/nonexistent"};
    const std::string name = "CUDAMATRIX_CENSUS";
    const auto value = std::to_string(::getpid());
    for (auto& [command, expected] : kinds)
        command.environment[name] = value;
    const auto mix = [&](std::size_t offset) {
        for (std::size_t i = offset; i < offset + rounds; ++i) {
            const auto& [command, expected] = kinds[i % kinds.size()];
            const auto result = run(command);
            if (expected == Ended::refused ? result.ok() : !result.ok() || result->how != expected) ++wrong;
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t)
        threads.emplace_back(mix, t);
    for (auto& thread : threads)
        thread.join();
    CHECK(wrong == 0);
    CHECK(open_files() == files);
    CHECK(zombie_children() == zombies);
    // Killed ones vanish a moment later.
    for (int i = 0; i < 500 && processes_with(name + "=" + value) != 0; ++i)
        std::this_thread::sleep_for(10ms);
    CHECK(processes_with(name + "=" + value) == 0);
}

TEST_CASE("output that is taken as it comes is not kept, and whoever takes it can end the child") {
    std::string taken;
    auto command = script("echo out; echo err >&2; head -c 300000 /dev/zero");
    command.on_output = [&](std::string_view bytes) {
        taken += bytes;
        return true;
    };
    auto outcome = outcome_of(command);
    CHECK(outcome.success());
    CHECK(outcome.out == "");
    CHECK(outcome.err == "err\n");
    CHECK(taken == "out\n" + std::string(300000, '\0'));

    int calls = 0;
    command = script("while echo more; do :; done");
    command.on_output = [&](std::string_view) { return ++calls < 3; };
    outcome = outcome_of(command);
    CHECK(outcome.how == Ended::refused);
    CHECK(outcome.describe() == "stopped: its output is not what was expected");
    CHECK(calls == 3);
}
