#include "commands/streams.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include "base/text.hpp"

namespace cudamatrix {
namespace {

// Why a stream did not take all of it, said once: after a loss nothing follows, and 0 is the answer as for
// what was taken. A signal ends a write, and whoever shares our end of a pipe may have set it to fail instead
// of waiting: neither is a reason to lose text.
int put(std::FILE* stream, std::string_view text) {
    int why = 0;
    ::flockfile(stream);
    while (!text.empty() && std::ferror(stream) == 0) {
        text.remove_prefix(std::fwrite(text.data(), 1, text.size(), stream));
        if (text.empty()) break;
        why = errno;
        if (why != EINTR && why != EAGAIN) break;
        std::clearerr(stream);
        pollfd one{::fileno(stream), POLLOUT, 0};
        ::poll(&one, 1, -1);
    }
    ::funlockfile(stream);
    return text.empty() ? 0 : why;
}

}  // namespace

void open_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
        // The wrong way round: what is written to it fails, as it would have.
        static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
    }
    // A text is written at once: what is left of it after a failure is then known.
    for (std::FILE* stream : {stdout, stderr})
        static_cast<void>(std::setvbuf(stream, nullptr, _IONBF, 0));
}

void print(std::string_view text) {
    const int why = put(stdout, text);
    if (why == 0) return;
    tell(render(
        Diagnostic::error(fmt::format("cannot write to stdout: {}", std::generic_category().message(why)))
            .with_fix("send the report where there is room, or to a reader that reads to its end"),
        {}));
}

void tell(std::string_view text) {
    static_cast<void>(put(stderr, text));
}

void tell(const Diagnostic& diagnostic, const World& world) {
    tell(render(diagnostic, {}, world.colour_err));
}

ExitCode after_streams(ExitCode code) {
    const bool whole = std::ferror(stdout) == 0 && std::ferror(stderr) == 0;
    return whole ? code : worse(code, ExitCode::environment);
}

}  // namespace cudamatrix
