#include "kernels/support/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

extern char** environ;

namespace cudamatrix::suite {
namespace {

using Clock = std::chrono::steady_clock;

// A handler can reach nothing but a global; this is the only one, and it only ever goes from 0 to a signal's
// number.
volatile sig_atomic_t g_stop_signal = 0;

extern "C" void remember_stop_signal(int number) {
    g_stop_signal = number;
}

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The reading ends of the child's three streams, and what came from them.
struct Stream {
    int fd = -1;
    std::string* into = nullptr;
    std::size_t limit = 0;
    bool keep_tail = true;  ///< false: keep the beginning and note that more came
    bool* cut = nullptr;
};

void take(Stream& stream, const char* data, std::size_t size) {
    std::string& text = *stream.into;
    if (!stream.keep_tail) {
        const std::size_t room = stream.limit - text.size();
        if (size > room) *stream.cut = true;
        text.append(data, std::min(size, room));
        return;
    }
    text.append(data, size);
    if (text.size() > 2 * stream.limit) text.erase(0, text.size() - stream.limit);
}

/// Reads what is there; closes the stream at its end.
void drain(Stream& stream) {
    char buffer[16384];
    while (stream.fd >= 0) {
        const ssize_t n = ::read(stream.fd, buffer, sizeof buffer);
        if (n > 0) {
            take(stream, buffer, static_cast<std::size_t>(n));
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else if (n < 0 && errno == EAGAIN) {
            return;
        } else {
            ::close(stream.fd);
            stream.fd = -1;
        }
    }
}

/// Both ends above 9, so that giving one of them the number 1, 2 or 3 in the child never meets its own
/// source.
bool make_pipe(int ends[2]) {
    int low[2];
    if (::pipe2(low, O_CLOEXEC) != 0) return false;
    ends[0] = ::fcntl(low[0], F_DUPFD_CLOEXEC, 10);
    ends[1] = ::fcntl(low[1], F_DUPFD_CLOEXEC, 10);
    ::close(low[0]);
    ::close(low[1]);
    if (ends[0] < 0 || ends[1] < 0) return false;
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return true;
}

class Child {
  public:
    explicit Child(const ProcessSpec& spec) : spec_(spec) { start(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        for (Stream& stream : streams_) {
            if (stream.fd >= 0) ::close(stream.fd);
        }
    }

    [[nodiscard]] bool done() const { return done_; }
    [[nodiscard]] ProcessResult& result() { return result_; }
    void add_to(std::vector<pollfd>& fds) const {
        for (const Stream& stream : streams_) {
            if (stream.fd >= 0) fds.push_back({stream.fd, POLLIN, 0});
        }
    }

    /// One step: read, look whether it ended, act when it is late.
    void step() {
        if (done_) return;
        for (Stream& stream : streams_)
            drain(stream);
        siginfo_t info{};
        const int rc = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
        if (rc == 0 && info.si_pid == pid_) {
            finish();
        } else {
            enforce_limits();
        }
    }

  private:
    void start() {
        begin_ = Clock::now();
        streams_[0].into = &result_.record;
        streams_[0].limit = kRecordLimit;
        streams_[0].keep_tail = false;
        streams_[0].cut = &result_.record_cut;
        streams_[1].into = &result_.out;
        streams_[2].into = &result_.err;
        streams_[1].limit = spec_.out_limit;
        streams_[2].limit = kTailLimit;

        const std::string program = spec_.argv.empty() ? std::string() : find_program(spec_.argv.front());
        if (program.empty()) {
            refuse(spec_.argv.empty() ? "no program named" : spec_.argv.front() + ": no such program");
            return;
        }
        int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
        bool ok = true;
        for (auto& ends : pipes)
            ok = ok && make_pipe(ends);
        const int rc = ok ? spawn(program, pipes) : errno;
        for (std::size_t i = 0; i < 3; ++i) {
            if (pipes[i][1] >= 0) ::close(pipes[i][1]);
            streams_[i].fd = pipes[i][0];
        }
        if (rc != 0) refuse(program + ": " + std::strerror(rc));
    }

    void refuse(std::string why) {
        result_.start_error = std::move(why);
        done_ = true;
    }

    int spawn(const std::string& program, int pipes[3][2]) {
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, pipes[0][1], 3);
        posix_spawn_file_actions_adddup2(&actions, pipes[1][1], 1);
        posix_spawn_file_actions_adddup2(&actions, pipes[2][1], 2);

        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        sigset_t none;
        sigset_t all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes,
                                 POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

        std::vector<char*> argv;
        for (const std::string& arg : spec_.argv)
            argv.push_back(const_cast<char*>(arg.c_str()));
        argv.push_back(nullptr);
        std::vector<std::string> env_texts = environment();
        std::vector<char*> env;
        for (std::string& text : env_texts)
            env.push_back(text.data());
        env.push_back(nullptr);
        const int rc = ::posix_spawn(&pid_, program.c_str(), &actions, &attributes, argv.data(), env.data());
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
        return rc;
    }

    [[nodiscard]] std::vector<std::string> environment() const {
        std::vector<std::string> texts;
        for (char** entry = environ; *entry != nullptr; ++entry) {
            const std::string_view text(*entry);
            const std::string_view name = text.substr(0, text.find('='));
            bool replaced = false;
            for (const auto& [key, value] : spec_.env)
                replaced = replaced || key == name;
            if (!replaced) texts.emplace_back(text);
        }
        for (const auto& [key, value] : spec_.env)
            texts.push_back(key + "=" + value);
        return texts;
    }

    void enforce_limits() {
        const double now = seconds_since(begin_);
        if (!terminated_ && (now > spec_.limit_s || g_stop_signal != 0)) {
            result_.interrupted = g_stop_signal != 0;
            result_.timed_out = !result_.interrupted;
            terminated_ = true;
            terminated_at_ = now;
            ::kill(-pid_, SIGTERM);
        } else if (terminated_ && !killed_ && now > terminated_at_ + spec_.grace_s) {
            killed_ = true;
            killed_at_ = now;
            ::kill(-pid_, SIGKILL);
        } else if (killed_ && now > killed_at_ + spec_.give_up_s) {
            result_.unkillable = true;
            result_.wall_s = now;
            trim();
            done_ = true;
        }
    }

    /// The leader ended but is not reaped yet, so its group's number cannot belong to anybody else: whoever
    /// is left of the group is killed now, which also closes the pipes.
    void finish() {
        ::kill(-pid_, SIGKILL);
        const auto drain_begin = Clock::now();
        constexpr double kDrainLimit = 1.0;  // a process that left the group may keep a pipe open for ever
        while (seconds_since(drain_begin) < kDrainLimit) {
            std::vector<pollfd> fds;
            for (Stream& stream : streams_)
                drain(stream);
            add_to(fds);
            if (fds.empty()) break;
            ::poll(fds.data(), fds.size(), 20);
        }
        int status = 0;
        struct rusage usage {};
        while (::wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
        }
        result_.wall_s = seconds_since(begin_);
        result_.cpu_s = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                        static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
        if (WIFSIGNALED(status)) {
            result_.signal = WTERMSIG(status);
        } else {
            result_.exit_code = WEXITSTATUS(status);
        }
        trim();
        done_ = true;
    }

    void trim() {
        const auto keep_last = [](std::string& text, std::size_t limit) {
            if (text.size() > limit) text.erase(0, text.size() - limit);
        };
        keep_last(result_.out, spec_.out_limit);
        keep_last(result_.err, kTailLimit);
    }

    const ProcessSpec& spec_;
    ProcessResult result_;
    Stream streams_[3];
    pid_t pid_ = -1;
    Clock::time_point begin_;
    double terminated_at_ = 0;
    double killed_at_ = 0;
    bool terminated_ = false;
    bool killed_ = false;
    bool done_ = false;
};

/// Waits until a stream has something or a short time passed, then lets every child take a step.
void step_all(std::vector<std::unique_ptr<Child>>& children) {
    std::vector<pollfd> fds;
    for (const auto& child : children)
        child->add_to(fds);
    constexpr int kTickMs = 10;
    ::poll(fds.data(), fds.size(), kTickMs);
    for (const auto& child : children)
        child->step();
}

}  // namespace

ProcessResult run_process(const ProcessSpec& spec) {
    return run_processes({spec}, 1).front();
}

std::vector<ProcessResult> run_processes(const std::vector<ProcessSpec>& specs, unsigned jobs) {
    std::vector<ProcessResult> results(specs.size());
    std::vector<std::unique_ptr<Child>> running;
    std::vector<std::size_t> index;
    std::size_t next = 0;
    while (next < specs.size() || !running.empty()) {
        while (next < specs.size() && running.size() < std::max(jobs, 1U)) {
            running.push_back(std::make_unique<Child>(specs[next]));
            index.push_back(next++);
        }
        step_all(running);
        for (std::size_t i = running.size(); i-- > 0;) {
            if (!running[i]->done()) continue;
            results[index[i]] = std::move(running[i]->result());
            running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
            index.erase(index.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
    return results;
}

void stop_children_on_signals() {
    struct sigaction action {};
    action.sa_handler = remember_stop_signal;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
}

int stop_signal() {
    return g_stop_signal;
}

std::string find_program(const std::string& name) {
    const auto executable = [](const std::string& path) {
        struct stat info {};
        return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && ::access(path.c_str(), X_OK) == 0;
    };
    if (name.empty()) return "";
    if (name.find('/') != std::string::npos) return executable(name) ? name : "";
    const char* path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
    while (!rest.empty()) {
        const std::string_view folder = rest.substr(0, rest.find(':'));
        rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
        if (folder.empty()) continue;
        const std::string candidate = std::string(folder) + "/" + name;
        if (executable(candidate)) return candidate;
    }
    return "";
}

}  // namespace cudamatrix::suite
