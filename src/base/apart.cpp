#include "base/apart.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace cudamatrix {

bool done_apart(const std::function<bool()>& work) {
    const auto child = ::fork();
    if (child < 0) return false;
    if (child == 0) {
        ::setsid();
        // No destructor and no exit handler of the parent's runs a second time.
        ::_exit(work() ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return false;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

}  // namespace cudamatrix
