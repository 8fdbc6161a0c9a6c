// One program at a time in an output folder.
#pragma once

#include <filesystem>

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

}  // namespace cudamatrix::job
