// Child processes: an argument vector, never a shell; a process group of their own; bounded time and output.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cudamatrix {

/// The environment of a process: only main reads the global one.
using Environment = std::map<std::string, std::string>;

/// The first of these variables that is set and not empty; else empty.
[[nodiscard]] std::string value_of(const Environment& environment, std::initializer_list<const char*> names);

struct Command {
    std::vector<std::string> argv;  ///< argv[0] is looked up in `environment`'s PATH unless it has a slash
    Environment environment;        ///< the whole environment of the child; nothing is inherited
    std::string working_directory;  ///< empty: the caller's
    std::string input;              ///< written to standard input, which is then closed (empty: /dev/null)
    std::chrono::milliseconds time_limit{0};  ///< 0: none
    std::chrono::milliseconds grace{10'000};  ///< between SIGTERM and SIGKILL to the group
    std::uint64_t output_limit = 8u << 20;    ///< bytes kept of each stream; the rest is read and dropped
    bool stop_on_flood = false;               ///< end the child when a stream passes `output_limit`
    /// Called for each line of either stream as it comes, without its newline and cut after 64 KiB.
    std::function<void(std::string_view line, bool is_stderr)> on_line;
    /// Takes standard output as it comes, in pieces, instead of having it kept. False ends the child.
    std::function<bool(std::string_view bytes)> on_output;
};

enum class Ended { exited, signalled, timed_out, flooded, cancelled, refused };

struct Outcome {
    Ended how = Ended::exited;
    int exit_code = 0;  ///< when `exited`
    int signal = 0;     ///< when `signalled`
    std::string out;    ///< standard output, up to the limit; empty where `on_output` takes it
    std::string err;    ///< standard error, up to the limit
    std::chrono::milliseconds elapsed{0};

    [[nodiscard]] bool success() const { return how == Ended::exited && exit_code == 0; }
    /// "exit code 2", "killed by signal 9", "timed out after 60 s": for messages.
    [[nodiscard]] std::string describe() const;
};

/// Set by the signal handler of main, read by every thread: a running child is then ended.
class Cancellation {
  public:
    void request() noexcept { requested_ = true; }
    [[nodiscard]] bool requested() const noexcept { return requested_; }

  private:
    // A handler may touch no other kind of atomic.
    static_assert(std::atomic<bool>::is_always_lock_free);
    std::atomic<bool> requested_ = false;
};

[[nodiscard]] inline bool interrupted(const Cancellation* cancellation) {
    return cancellation != nullptr && cancellation->requested();
}

/// Where progress goes: one line each, to stderr, as it happens ("[2/5] building debian12-cu11.8.0 ...").
using Progress = std::function<void(std::string_view line)>;

/// Runs the command to its end, then kills what is left of its group. A program that cannot be started is a
/// failure of the environment. Thread-safe.
[[nodiscard]] Result<Outcome> run(const Command& command, const Cancellation* cancellation = nullptr);

/// Absolute path of `program` in the PATH of `environment` (as execvp would find it).
[[nodiscard]] std::optional<std::string> find_program(std::string_view program,
                                                      const Environment& environment);

/// From now on this process gives freed blocks of a megabyte and more back to the system at once: glibc keeps
/// blocks of up to 32 MiB, so that a command that streams files would hold twice what it uses.
void give_large_blocks_back();

}  // namespace cudamatrix
