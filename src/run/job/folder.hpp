// One program at a time in an output folder, and room on its disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "render/image/image.hpp"

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

// What images: of the matrix file copies into images: found, hashed and put into the contexts of builds.

/// The files that one image gets beside what is rendered.
struct Copies {
    struct File {
        std::filesystem::path from;
        std::filesystem::path to;  ///< relative to the context: "copy/app/train.py"
    };
    std::vector<File> files;  ///< sorted
    std::string hash;  ///< over names, contents and whether they are executable; empty: nothing is copied
};

/// What `image` copies, from beside the matrix file. Input failures, with the place of the entry: nothing is
/// there, a symbolic link (which could lead anywhere), anything else that is neither file nor folder, a
/// folder without files or with too many, and one that holds `out`.
[[nodiscard]] Result<Copies> find_copies(const Matrix& matrix, const Image& image,
                                         const std::filesystem::path& out);

/// Puts them below `context`, as hard links where the file system allows it, in the place of what an earlier
/// build put there. A folder of that name that no build made is left alone: an environment failure.
[[nodiscard]] Status stage_copies(const Copies& copies, const std::filesystem::path& context);

/// Takes away what stage_copies put below `context`, and nothing else; gives the number of files.
[[nodiscard]] Result<std::size_t> remove_copies(const std::filesystem::path& context);

// Is there room for what shall be built? Asked before anything is started: a full disk in the middle helps
// nobody.

/// Bytes that building `images` takes at its peak where the engine keeps its images: layers, build cache and
/// downloads.
[[nodiscard]] std::uint64_t engine_bytes_needed(const std::vector<const Image*>& images);

/// Bytes that go to the output folder: the bootstrap tars and some text.
[[nodiscard]] std::uint64_t output_bytes_needed(const std::vector<const Image*>& images);

/// Fails (exit code 3) with the figure that is needed and the one that was found when a file system has less
/// room. Demands on the same file system are added up.
struct DiskDemand {
    std::filesystem::path folder;
    std::uint64_t bytes = 0;
};
[[nodiscard]] Status check_disk(const std::vector<DiskDemand>& demands);

}  // namespace cudamatrix::job
