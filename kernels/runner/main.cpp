// The program `suite`: runs the tests inside an image. See registry.def for the list.
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatbin/reader.hpp"
#include "kernels/host/host_tests.hpp"
#include "kernels/registry.hpp"
#include "kernels/runner/runner.hpp"
#include "kernels/support/json.hpp"
#include "kernels/support/process.hpp"
#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {
namespace {

using Args = std::vector<std::string>;

int usage(const std::string& error) {
    std::fprintf(stderr,
                 "suite: %s\nusage: suite run [OPTION]...   run the tests, one JSON line each\n"
                 "       suite pick N COMMAND... -- COMMAND...   the Nth of these, counted from 0\n"
                 "       suite list               the tests\n"
                 "       suite fatbin FILE...     device code in files, one JSON line each\n"
                 "       suite --help\n",
                 error.c_str());
    return kUsage;
}

int help() {
    std::printf(
        "usage: suite run [OPTION]...\n\nRuns the tests of the registry, each in a process of its own, and "
        "prints "
        "one JSON line for each.\nExit codes: 0 all passed, 1 something failed, 2 usage, 3 something could "
        "not be "
        "judged,\n4 passed as far as can be without a GPU, 5 nothing ran.\n\n%s\n"
        "example: suite run --cell drv550-t4-cu11.8 --compute 7.5 --ptx-isa 8.4 --expect-cuda 11.8\n",
        context_usage().c_str());
    return 0;
}

std::string self_path() {
    char path[4096];
    const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
    return n > 0 ? std::string(path, static_cast<std::size_t>(n)) : std::string();
}

std::optional<Context> context_with_prefix(const Args& args, std::string& error) {
    auto context = parse_context(args, error);
    if (context && context->prefix.empty()) {
        // PREFIX/bin/suite
        const std::string self = self_path();
        const std::string folder = self.substr(0, self.rfind('/'));
        context->prefix = folder.substr(0, folder.rfind('/'));
    }
    return context;
}

int run(const Args& args) {
    std::string error;
    const auto context = context_with_prefix(args, error);
    if (!context) return usage(error);
    for (const std::string& id : context->only) {
        if (find_test(id) == nullptr) return usage("no test is called '" + id + "'; see: suite list");
    }
    const std::string self = self_path();
    if (self.empty()) {
        std::fprintf(stderr, "suite: /proc/self/exe cannot be read: %s\n", std::strerror(errno));
        return kOnlyErrors;
    }
    stop_children_on_signals();
    return run_suite(*context, self, stdout);
}

/// One host test, in this process.
int run_test(const Args& args) {
    struct HostTest {
        const char* id;
        Record (*function)(const Context&);
    };
    static constexpr HostTest kHostTests[] = {
#define CUDAMATRIX_HOST_TEST(id, group, function, ...) {id, function},
#define CUDAMATRIX_CUDA_TEST(...)
#define CUDAMATRIX_PYTHON_TEST(...)
#include "kernels/registry.def"
#undef CUDAMATRIX_HOST_TEST
#undef CUDAMATRIX_CUDA_TEST
#undef CUDAMATRIX_PYTHON_TEST
    };
    if (args.empty()) return usage("test takes an id");
    for (const HostTest& test : kHostTests) {
        if (args.front() != test.id) continue;
        std::string error;
        const auto context = context_with_prefix({args.begin() + 1, args.end()}, error);
        if (!context) return usage(error);
        const std::vector<std::string_view> parts = find_test(test.id)->parts();
        const std::string part = context->part.empty() ? std::string(parts.front()) : context->part;
        if (std::find(parts.begin(), parts.end(), part) == parts.end())
            return usage(args.front() + " has no part " + part);
        const Record record = test.function(*context);
        return write_record(context->record_fd, record, test.id, part) ? exit_code(record.status)
                                                                       : exit_code(Status::error);
    }
    return usage("no host test is called '" + args.front() + "'");
}

/// Turns this process into a test: no core files, dead when the runner dies. The settings survive exec.
int become(const Args& args) {
    if (args.size() < 2) return usage("become takes the runner's process id and a program");
    const struct rlimit none {};
    ::setrlimit(RLIMIT_CORE, &none);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The runner may have died before the line above.
    if (std::to_string(::getppid()) != args.front()) return exit_code(Status::error);
    const std::string program = find_program(args[1]);
    std::vector<char*> argv;
    for (std::size_t i = 1; i < args.size(); ++i)
        argv.push_back(const_cast<char*>(args[i].c_str()));
    argv.push_back(nullptr);
    if (!program.empty()) ::execv(program.c_str(), argv.data());
    std::fprintf(stderr, "suite: %s cannot be started: %s\n", args[1].c_str(),
                 program.empty() ? "no such program" : std::strerror(errno));
    constexpr int kNotFound = 127;
    return kNotFound;
}

int list() {
    std::printf("%-16s %-9s %-8s %-9s %-7s %-7s %s\n", "id", "group", "parts", "level", "min cc", "CUDA",
                "faults");
    for (const Test& test : all_tests()) {
        std::string parts;
        for (const std::string_view part : test.parts())
            parts += (parts.empty() ? "" : ",") + std::string(part);
        const auto or_dash = [](std::string_view text) {
            return text.empty() ? std::string("-") : std::string(text);
        };
        std::printf("%-16s %-9s %-8s %-9s %-7s %-7s %s\n", std::string(test.id).c_str(),
                    std::string(test.group).c_str(), parts.c_str(), std::string(to_text(test.level)).c_str(),
                    or_dash(test.min_cc).c_str(), or_dash(test.min_cuda).c_str(),
                    std::string(test.faults).c_str());
        std::printf("    %s\n", std::string(test.proves).c_str());
    }
    return 0;
}

int list_fatbins(const Args& files) {
    if (files.empty()) return usage("fatbin takes one or more files");
    bool failed = false;
    for (const std::string& path : files) {
        const fatbin::FileContents file = fatbin::read_file(path);
        json::Value line = json::Value::object();
        line.set("v", 1);
        line.set("path", path);
        line.set("fatbin", fatbin::summary(fatbin::entries_with_code(file.contents)));
        line.set("containers", file.contents.containers);
        if (!file.contents.error.empty()) line.set("error", file.contents.error);
        failed = failed || !file.contents.error.empty();
        std::printf("%s\n", line.dump().c_str());
    }
    return failed ? kOnlyErrors : 0;
}

int main_of(const Args& args) {
    if (args.empty()) return usage("what to do?");
    const Args rest(args.begin() + 1, args.end());
    const bool wants_help = std::find(rest.begin(), rest.end(), "--help") != rest.end();
    if (args.front() == "--help" || (args.front() == "run" && wants_help)) return help();
    if (args.front() == "run") return run(rest);
    if (args.front() == "test") return run_test(rest);
    if (args.front() == "become") return become(rest);
    if (args.front() == "pick") {
        std::string error;
        const auto command = picked(rest, error);
        if (!command) return usage(error);
        return !command->empty() && command->front() == "pick" ? usage("pick picks no other pick")
                                                               : main_of(*command);
    }
    if (args.front() == "list" && rest.empty()) return list();
    if (args.front() == "fatbin") return list_fatbins(rest);
    return usage("unknown command " + args.front());
}

}  // namespace
}  // namespace cudamatrix::suite

int main(int argc, char** argv) {
    return cudamatrix::suite::main_of({argv + 1, argv + argc});
}
