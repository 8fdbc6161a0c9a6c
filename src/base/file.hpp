// Files: bounded reading, atomic writing, hashing. Paths are UTF-8.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"

namespace cudamatrix::file {

/// The whole regular file. Input failures: it is missing, something else, unreadable or larger than `limit`
/// bytes.
[[nodiscard]] Result<std::string> read(const std::filesystem::path& path, std::uint64_t limit);

/// What `read` does, or what does it elsewhere: in a commit.
using Reader = std::function<Result<std::string>(const std::filesystem::path& path, std::uint64_t limit)>;

/// Replaces `path` by `content` at once, by a synced file that is renamed over it; false, and nothing
/// touched, when the content is already there. A target that is a symbolic link or a directory is refused.
[[nodiscard]] Result<bool> write(const std::filesystem::path& path, std::string_view content);

/// What a path has, compared with `content`. Links are not followed: they are `no_file`, like what cannot be
/// read.
enum class Compared { same, other, missing, no_file };
[[nodiscard]] Compared compare(const std::filesystem::path& path, std::string_view content);

/// Writes a file that is not there yet (mode 0644 whatever the umask), neither synced nor atomic: for folders
/// that are renamed as a whole later.
[[nodiscard]] Status create(const std::filesystem::path& path, std::string_view content);

/// Adds to the end of a file that others write, too; it is made where it is missing. Not synced. What could
/// be added only in part is taken back.
[[nodiscard]] Status append(const std::filesystem::path& path, std::string_view content);

/// With the parents; an existing directory is fine.
[[nodiscard]] Status make_directories(const std::filesystem::path& path);

/// Bytes that an unprivileged process may still write to the file system of `path` or its nearest parent.
[[nodiscard]] Result<std::uint64_t> free_bytes(const std::filesystem::path& path);

/// Makes `to` a hard link to `from`, or a copy across file systems. Replaces `to` at once or not at all.
[[nodiscard]] Status link_or_copy(const std::filesystem::path& from, const std::filesystem::path& to);

/// A folder of one's own, which goes with all that is in it.
class TemporaryFolder {
  public:
    /// PARENT/cudamatrix-NAME.XXXXXX; an empty parent is /tmp.
    [[nodiscard]] static Result<std::unique_ptr<TemporaryFolder>> make(std::string_view parent,
                                                                       std::string_view name);
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

}  // namespace cudamatrix::file
