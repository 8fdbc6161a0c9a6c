#include "base/apart.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <thread>

#include "base/text.hpp"

namespace cudamatrix {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kMostText = 1u << 20;
constexpr int kThrew = 70;
constexpr std::chrono::milliseconds kBurial{200};  // for a kill to be followed by an end

[[noreturn]] void be_the_copy(const std::function<std::string()>& work, int to) {
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        ::dup2(nowhere, stream);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        std::signal(signal, SIG_DFL);
    try {
        const auto text = work();
        for (std::size_t at = 0; at < text.size();) {
            const auto written = ::write(to, text.data() + at, text.size() - at);
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) ::_exit(kThrew);
            at += static_cast<std::size_t>(written);
        }
    } catch (const std::exception&) {
        ::_exit(kThrew);
    }
    ::_exit(0);
}

// False: the time is over. Reads to the end of the stream.
bool read_until(Steady::time_point end, int from, std::string& text) {
    std::array<char, 4096> buffer{};
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Steady::now()).count();
        pollfd one{from, POLLIN, 0};
        const int ready = left <= 0 ? 0 : ::poll(&one, 1, static_cast<int>(left));
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return false;
        const auto got = ::read(from, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return true;
        const auto room = kMostText - text.size();
        text.append(buffer.data(), std::min(room, static_cast<std::size_t>(got)));
    }
}

bool is_only_thread() {
    std::error_code error;
    const std::filesystem::directory_iterator threads("/proc/self/task", error);
    return !error && std::ranges::distance(threads) == 1;
}

// How the copy ended; nothing where it does not end.
std::string bury(pid_t copy) {
    const auto end = Steady::now() + kBurial;
    int status = 0;
    for (;;) {
        const auto ended = ::waitpid(copy, &status, WNOHANG);
        if (ended == copy) break;
        if ((ended < 0 && errno != EINTR) || Steady::now() >= end) return "it does not end";
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (WIFSIGNALED(status)) return fmt::format("killed by signal {}", WTERMSIG(status));
    return WEXITSTATUS(status) == 0 ? "" : fmt::format("exit code {}", WEXITSTATUS(status));
}

}  // namespace

Apart run_apart(const std::function<std::string()>& work, std::chrono::milliseconds limit) {
    Apart out;
    if (!is_only_thread()) {
        out.why_not = "this process has other threads: a copy of it could hang";
        return out;
    }
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
        out.why_not = fmt::format("no pipe: {}", std::strerror(errno));
        return out;
    }
    const auto end = Steady::now() + limit;
    const pid_t copy = ::fork();
    if (copy == 0) be_the_copy(work, pipe[1]);
    ::close(pipe[1]);
    if (copy < 0) {
        out.why_not = fmt::format("no process: {}", std::strerror(errno));
    } else if (read_until(end, pipe[0], out.text)) {
        out.why_not = bury(copy);
    } else {
        ::kill(copy, SIGKILL);
        static_cast<void>(bury(copy));
        out.why_not = fmt::format("no answer within {} s", std::chrono::duration<double>(limit).count());
    }
    ::close(pipe[0]);
    return out;
}

}  // namespace cudamatrix
