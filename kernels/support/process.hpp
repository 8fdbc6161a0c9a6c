#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace cudamatrix::suite {

inline constexpr std::size_t kTailLimit = 64 * 1024;
inline constexpr std::size_t kRecordLimit = 1024 * 1024;

/// A child process in a process group of its own, with a time limit.
struct ProcessSpec {
    std::vector<std::string> argv;  ///< argv[0] is a path, or a name looked up on PATH; never a shell's text
    std::vector<std::pair<std::string, std::string>> env;  ///< set or replaced in the child
    double limit_s = 20;                                   ///< wall time until SIGTERM to the group
    double grace_s = 5;                                    ///< from SIGTERM to SIGKILL
    std::size_t out_limit = kTailLimit;                    ///< bytes of its stdout that are kept
    double give_up_s = 10;  ///< from SIGKILL until the child counts as unkillable (stuck in the kernel)
};

struct ProcessResult {
    std::string start_error;  ///< not empty: nothing was started
    int exit_code = -1;       ///< -1 when ended by a signal
    int signal = 0;
    bool timed_out = false;
    bool unkillable = false;   ///< still there after SIGKILL
    bool interrupted = false;  ///< ended because this program was told to stop
    std::string record;        ///< what it wrote on descriptor 3, at most kRecordLimit bytes
    bool record_cut = false;   ///< it wrote more than that
    std::string out;           ///< the last out_limit bytes of its stdout
    std::string err;           ///< the last kTailLimit bytes of its stderr
    double wall_s = 0;
    double cpu_s = 0;  ///< user + system: tells a busy process from a stuck one
};

/// Runs one child to its end. What is left of its group afterwards is killed.
[[nodiscard]] ProcessResult run_process(const ProcessSpec& spec);

/// Runs several, at most `jobs` at a time; results in the order of `specs`.
[[nodiscard]] std::vector<ProcessResult> run_processes(const std::vector<ProcessSpec>& specs, unsigned jobs);

/// After this call SIGINT and SIGTERM end the running children and make run_process return `interrupted`.
void stop_children_on_signals();
/// The signal that arrived, 0 if none did.
[[nodiscard]] int stop_signal();

/// The full path of a program on PATH, or `name` itself when it holds a slash; "" when there is none that can
/// be executed.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace cudamatrix::suite
