// Files: bounded reading, atomic writing, hashing. Paths are UTF-8.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cudamatrix::file {

/// The whole regular file; a missing file, a directory, an unreadable file and one of more than `limit` bytes
/// are input failures (exit code 2) that say which.
[[nodiscard]] Result<std::string> read(const std::filesystem::path& path, std::uint64_t limit);

/// Replaces `path` by `content`: a new file beside it is written, synced and renamed over it, so that readers
/// see the old or the new content and never a part. Nothing is touched when the content is already there
/// (returns false). A target that is a symbolic link or a directory is refused.
[[nodiscard]] Result<bool> write(const std::filesystem::path& path, std::string_view content);

/// What stands at a path, beside a content that is wanted there. A symbolic link, a directory and a file that
/// cannot be read are `no_file`; nothing is followed.
enum class Compared { same, other, missing, no_file };
[[nodiscard]] Compared compare(const std::filesystem::path& path, std::string_view content);

/// Writes a new file that is not there yet (mode 0644 whatever the umask). Neither synced nor atomic: for
/// folders that nobody reads before they are renamed as a whole.
[[nodiscard]] Status create(const std::filesystem::path& path, std::string_view content);

/// Creates `path` and its parents; an existing directory is fine.
[[nodiscard]] Status make_directories(const std::filesystem::path& path);

/// Bytes that an unprivileged process may still write to the file system that holds `path` (or its nearest
/// parent).
[[nodiscard]] Result<std::uint64_t> free_bytes(const std::filesystem::path& path);

/// Makes `to` the same file as `from`: a hard link where the file system allows it, a copy elsewhere.
/// Replaces `to` at once or, on failure, not at all.
[[nodiscard]] Status link_or_copy(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace cudamatrix::file
