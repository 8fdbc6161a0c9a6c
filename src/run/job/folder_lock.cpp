#include "run/job/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/file.hpp"
#include "base/text.hpp"

namespace cudamatrix::job {

Result<FolderLock> FolderLock::take(const std::filesystem::path& folder) {
    CM_TRY(file::make_directories(folder));
    const auto name = text::printable(folder.string());
    // The folder itself is what is locked: no file is left behind.
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return environment_failure(
            fmt::format("cannot open {}: {}", name, std::generic_category().message(errno)));
    }
    FolderLock lock(fd);
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            return environment_failure(fmt::format("another cudamatrix is at work in {}", name),
                                       "wait for its end, or take another --out folder");
        }
        return environment_failure(
            fmt::format("cannot lock {}: {}", name, std::generic_category().message(errno)));
    }
    return lock;
}

FolderLock::~FolderLock() {
    if (fd_ >= 0) ::close(fd_);
}

}  // namespace cudamatrix::job
