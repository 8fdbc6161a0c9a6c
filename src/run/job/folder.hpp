// One program at a time in an output folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace cudamatrix::job {

/// Held as long as the object lives; the kernel lets go of it when the process dies, however it does.
class FolderLock {
  public:
    /// Creates the folder. Another cudamatrix at work there is an environment failure.
    [[nodiscard]] static Result<FolderLock> take(const std::filesystem::path& folder);
    ~FolderLock();
    FolderLock(FolderLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;
    FolderLock& operator=(FolderLock&&) = delete;

  private:
    explicit FolderLock(int fd) : fd_(fd) {}
    int fd_;
};

// What builds leave in and beside the folders of images: removed when `render --prune` removes the images.
struct Leftovers {
    std::size_t removed = 0;  ///< files
    std::vector<std::string>
        kept;  ///< files of ours that were changed by hand, relative to the output folder
};

/// Removes what earlier builds made for images that are none of `images` (ids): the suite's copies by the
/// list that lies beside them, what `images:` copied, the bootstrap tar where it is the one of
/// `out`/bootstrap, the logs of those images, and folders that are empty then. `pruned` are files that the
/// render has just removed, relative to `out`. Every other file stays. Can be repeated after it was killed.
[[nodiscard]] Result<Leftovers> remove_leftovers(const std::filesystem::path& out,
                                                 const std::vector<std::string>& images,
                                                 const std::vector<std::string>& pruned);

}  // namespace cudamatrix::job
