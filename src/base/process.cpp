#include "base/process.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __GLIBC__
#include <sys/syscall.h>

// Boost.Process calls glibc's, which musl lacks. Kernels before 5.9 have no such call, either.
static int close_range(unsigned first, unsigned last, int flags) {
    if (::syscall(SYS_close_range, first, last, flags) == 0) return 0;
    const long limit = ::sysconf(_SC_OPEN_MAX);
    for (unsigned fd = first; fd <= last && static_cast<long>(fd) < limit; ++fd)
        ::close(static_cast<int>(fd));
    return 0;
}
#endif

#include <algorithm>
#include <array>
#include <boost/process/v2/posix/default_launcher.hpp>
#include <boost/process/v2/stdio.hpp>
#include <cerrno>
#include <cstring>

#include "base/text.hpp"

namespace cudamatrix {
namespace {

namespace bp = boost::process::v2;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kLongestLine = 64 * 1024;

class Pipe {
  public:
    Pipe() { open_ = ::pipe2(ends_.data(), O_CLOEXEC) == 0; }
    ~Pipe() {
        close(0);
        close(1);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    [[nodiscard]] bool ok() const { return open_; }
    [[nodiscard]] int end(std::size_t which) const { return ends_[which]; }
    void close(std::size_t which) {
        if (ends_[which] >= 0) ::close(ends_[which]);
        ends_[which] = -1;
    }

  private:
    std::array<int, 2> ends_{-1, -1};
    bool open_ = false;
};

// While it lives, a write to a pipe that nobody reads fails and does not end this process.
class NoBrokenPipeSignal {
  public:
    NoBrokenPipeSignal() {
        ::sigemptyset(&pipe_);
        ::sigaddset(&pipe_, SIGPIPE);
        sigset_t pending;
        ::sigemptyset(&pending);
        ::sigpending(&pending);
        was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
        ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    ~NoBrokenPipeSignal() {
        const timespec none{0, 0};
        while (!was_pending_ && ::sigtimedwait(&pipe_, nullptr, &none) < 0 && errno == EINTR) {
        }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    NoBrokenPipeSignal(const NoBrokenPipeSignal&) = delete;
    NoBrokenPipeSignal& operator=(const NoBrokenPipeSignal&) = delete;

  private:
    sigset_t pipe_{};
    sigset_t before_{};
    bool was_pending_ = false;
};

// One stream of the child: bounded text, and its lines as they come.
class Stream {
  public:
    Stream(std::string& kept, std::uint64_t limit, bool is_stderr, const Command& command)
        : kept_(kept), limit_(limit), is_stderr_(is_stderr), command_(command) {}

    // False at end of file.
    bool take(int fd) {
        std::array<char, 64 * 1024> buffer;
        const ssize_t got = ::read(fd, buffer.data(), buffer.size());
        if (got < 0) return errno == EINTR || errno == EAGAIN;
        if (got == 0) {
            if (!line_.empty()) emit();
            return false;
        }
        const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
        if (command_.on_output && !is_stderr_) {
            if (!refused) refused = !command_.on_output(bytes);
            return true;
        }
        const auto room = limit_ - std::min<std::uint64_t>(limit_, kept_.size());
        if (bytes.size() > room) flooded = true;
        kept_.append(bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(room, bytes.size()))));
        if (command_.on_line) feed(bytes);
        return true;
    }

    bool flooded = false;
    bool refused = false;  ///< by on_output

  private:
    void feed(std::string_view bytes) {
        for (const char c : bytes) {
            if (c == '\n') {
                emit();
            } else if (line_.size() < kLongestLine) {
                line_ += c;
            }
        }
    }
    void emit() {
        command_.on_line(line_, is_stderr_);
        line_.clear();
    }

    std::string& kept_;
    std::uint64_t limit_;
    bool is_stderr_;
    const Command& command_;
    std::string line_;
};

// True once `pid` has ended; it stays a zombie, so that its number still names its group and nothing else.
bool has_ended(pid_t pid) {
    siginfo_t info{};
    for (;;) {
        if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0)
            return info.si_pid == pid;
        if (errno != EINTR) return true;
    }
}

int reap(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

// Boost's launcher without its event loop: that one allocates in the child, where another thread may have
// held the allocator's lock, and takes SIGCHLD in the parent. Between fork and exec: only async-signal-safe
// calls.
class Launcher : bp::posix::default_launcher {
  public:
    // The number of the child, or minus the errno. The last of `arguments` and of `environment` is null.
    pid_t start(const std::string& program, const std::vector<const char*>& arguments,
                const std::vector<const char*>& environment, bp::process_stdio streams,
                const std::string& folder) {
        Pipe failure;
        if (!failure.ok()) return -errno;
        fd_whitelist.push_back(failure.end(1));
        const pid_t parent = ::getpid();
        const pid_t child = ::fork();
        if (child < 0) return -errno;
        if (child == 0) {
            be_child_of(parent);
            auto error = streams.on_exec_setup(*this, {}, nullptr);
            if (!error) close_all_fds(error);
            int number = error.value();
            if (number == 0 && !folder.empty() && ::chdir(folder.c_str()) != 0) number = errno;
            if (number == 0) {
                ::execve(program.c_str(), const_cast<char* const*>(arguments.data()),
                         const_cast<char* const*>(environment.data()));
                number = errno;
            }
            static_cast<void>(::write(failure.end(1), &number, sizeof number));
            ::_exit(127);
        }
        failure.close(1);
        int number = 0;
        ssize_t got = 0;
        while ((got = ::read(failure.end(0), &number, sizeof number)) < 0 && errno == EINTR) {
        }
        if (got <= 0) return child;  // exec closed the pipe
        static_cast<void>(reap(child));
        return -number;
    }

  private:
    static void be_child_of(pid_t parent) {
        ::setpgid(0, 0);
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(127);  // the parent died before prctl
        sigset_t none;
        ::sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD})
            ::signal(signal, SIG_DFL);
    }
};

// The running child: reads both pipes, feeds the input, and sends SIGTERM, then SIGKILL, when it must end.
class Supervision {
  public:
    Supervision(const Command& command, const Cancellation* cancellation, pid_t pid, Outcome& outcome)
        : command_(command), cancellation_(cancellation), pid_(pid), outcome_(outcome) {}

    void supervise(Pipe& in, Pipe& out, Pipe& err) {
        Stream out_stream(outcome_.out, command_.output_limit, false, command_);
        Stream err_stream(outcome_.err, command_.output_limit, true, command_);
        std::string_view input = command_.input;
        std::optional<Clock::time_point> drained_by;
        for (bool reaped = false;;) {
            if (!reaped && has_ended(pid_)) {
                // A descendant may hold the pipes open: it gets the end of the group and a moment to vanish.
                ::kill(-pid_, SIGKILL);
                status_ = reap(pid_);
                reaped = true;
                // Whoever takes the output may need a while for what the pipe still holds.
                drained_by = Clock::now() + milliseconds(command_.on_output ? 60'000 : 1000);
            }
            // What not even SIGKILL ends hangs in the kernel (a wedged driver): it is left behind.
            if (killed_ && Clock::now() > kill_at_ + milliseconds(5000)) break;
            if (reaped && ((out.end(0) < 0 && err.end(0) < 0) || Clock::now() > *drained_by)) break;
            if (!reaped) enforce(out_stream, err_stream);
            std::array<pollfd, 3> fds{
                {{out.end(0), POLLIN, 0}, {err.end(0), POLLIN, 0}, {in.end(1), POLLOUT, 0}}};
            if (::poll(fds.data(), fds.size(), reaped ? 10 : 20) <= 0) continue;
            if (fds[0].revents != 0 && !out_stream.take(out.end(0))) out.close(0);
            if (fds[1].revents != 0 && !err_stream.take(err.end(0))) err.close(0);
            if (fds[2].revents != 0) feed_input(in, input);
        }
        finish();
    }

  private:
    void feed_input(Pipe& in, std::string_view& input) {
        const NoBrokenPipeSignal guard;
        const ssize_t put = ::write(in.end(1), input.data(), input.size());
        if (put > 0) input.remove_prefix(static_cast<std::size_t>(put));
        if (input.empty() || (put < 0 && errno != EINTR && errno != EAGAIN)) in.close(1);
    }

    void enforce(const Stream& out, const Stream& err) {
        const auto now = Clock::now();
        if (!ending_) {
            if (cancellation_ != nullptr && cancellation_->requested()) {
                begin_end(Ended::cancelled);
            } else if (command_.time_limit.count() > 0 && now - start_ > command_.time_limit) {
                begin_end(Ended::timed_out);
            } else if (out.refused) {
                begin_end(Ended::refused);
            } else if (command_.stop_on_flood && (out.flooded || err.flooded)) {
                begin_end(Ended::flooded);
            }
        } else if (!killed_ && now > kill_at_) {
            ::kill(-pid_, SIGKILL);
            killed_ = true;
        }
    }

    void begin_end(Ended how) {
        ending_ = how;
        kill_at_ = Clock::now() + command_.grace;
        ::kill(-pid_, SIGTERM);
    }

    void finish() {
        outcome_.elapsed = std::chrono::duration_cast<milliseconds>(Clock::now() - start_);
        const bool exited = WIFEXITED(status_);
        if (exited) outcome_.exit_code = WEXITSTATUS(status_);
        if (!exited) outcome_.signal = WTERMSIG(status_);
        outcome_.how = ending_.value_or(exited ? Ended::exited : Ended::signalled);
    }

    const Command& command_;
    const Cancellation* cancellation_;
    pid_t pid_;
    Outcome& outcome_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point kill_at_{};
    std::optional<Ended> ending_;
    bool killed_ = false;
    int status_ = 0;
};

// As exec takes words; they have to outlive it.
std::vector<const char*> null_terminated(const std::vector<std::string>& words) {
    std::vector<const char*> out;
    for (const auto& word : words)
        out.push_back(word.c_str());
    out.push_back(nullptr);
    return out;
}

bool is_program(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string value_of(const Environment& environment, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        const auto found = environment.find(name);
        if (found != environment.end() && !found->second.empty()) return found->second;
    }
    return {};
}

std::string Outcome::describe() const {
    switch (how) {
        case Ended::exited:
            return fmt::format("exit code {}", exit_code);
        case Ended::signalled:
            return fmt::format("killed by signal {}", signal);
        case Ended::timed_out:
            return fmt::format("timed out after {:.0f} s", static_cast<double>(elapsed.count()) / 1000.0);
        case Ended::flooded:
            return "stopped: it wrote more output than is allowed";
        case Ended::refused:
            return "stopped: its output is not what was expected";
        case Ended::cancelled:
            break;
    }
    return "interrupted";
}

std::optional<std::string> find_program(std::string_view program, const Environment& environment) {
    const std::string name(program);
    if (name.empty()) return std::nullopt;
    if (name.find('/') != std::string::npos) return is_program(name) ? std::optional(name) : std::nullopt;
    const auto path = environment.find("PATH");
    for (const auto& directory :
         text::split(path == environment.end() ? "/usr/bin:/bin" : path->second, ':')) {
        if (directory.empty() || directory.front() != '/') continue;  // a relative PATH entry is an open door
        const auto candidate = directory + "/" + name;
        if (is_program(candidate)) return candidate;
    }
    return std::nullopt;
}

Result<Outcome> run(const Command& command, const Cancellation* cancellation) {
    if (command.argv.empty()) return environment_failure("no program to run was given");
    const auto& name = command.argv.front();
    const auto failed = [&](std::string_view why) {
        return environment_failure(fmt::format("cannot run {}: {}", text::printable(name), why));
    };
    const auto program = find_program(name, command.environment);
    if (!program) return failed("it was not found in PATH");
    Pipe in, out, err;
    if (!in.ok() || !out.ok() || !err.ok())
        return environment_failure("cannot create a pipe: too many open files");
    // Non-blocking, so that a child that does not read cannot hold us.
    ::fcntl(in.end(1), F_SETFL, O_NONBLOCK);

    Outcome outcome;
    try {
        auto arguments = null_terminated(command.argv);
        arguments.front() = program->c_str();
        std::vector<std::string> variables;
        for (const auto& [key, value] : command.environment)
            variables.push_back(key + "=" + value);
        const pid_t pid = Launcher().start(*program, arguments, null_terminated(variables),
                                           {in.end(0), out.end(1), err.end(1)}, command.working_directory);
        if (pid < 0) return failed(std::strerror(-pid));
        ::setpgid(pid, pid);
        in.close(0);
        out.close(1);
        err.close(1);
        if (command.input.empty()) in.close(1);
        Supervision(command, cancellation, pid, outcome).supervise(in, out, err);
    } catch (const std::exception& error) {
        return failed(error.what());
    }
    return outcome;
}

void give_large_blocks_back() {
#ifdef M_MMAP_THRESHOLD
    constexpr int kLarge = 1 << 20;
    // Set once, they no longer follow the largest block that was freed (mallopt(3)).
    static_cast<void>(::mallopt(M_MMAP_THRESHOLD, kLarge));
    static_cast<void>(::mallopt(M_TRIM_THRESHOLD, kLarge));
#endif
}

}  // namespace cudamatrix
