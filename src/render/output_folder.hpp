// Writing the output folder: only what changed, nothing that is not ours.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "render/image.hpp"

namespace cudamatrix {

inline constexpr std::string_view kIndexFile =
    "index.json";  ///< for readers: images, cells, hashes of all files
inline constexpr std::string_view kOwnedFile =
    ".cudamatrix-files";  ///< for ourselves: every file that we wrote and that is still there

struct Written {
    std::size_t changed = 0;  ///< files written
    std::size_t unchanged = 0;
    std::size_t removed = 0;  ///< files of ours that an image's folder no longer has
    std::vector<std::string>
        orphans;  ///< files of ours in folders that no image of the plan has any more; left alone
};

/// Writes `artifacts` below `out`. Every file is replaced atomically and only when its content differs.
/// Refused before anything is written: paths that leave `out`, symbolic links on the way, and files that are
/// there with other content but that we did not write (kOwnedFile, or where that is missing index.json, does
/// not list them).
[[nodiscard]] Result<Written> write_artifacts(const std::filesystem::path& out,
                                              const std::vector<Artifact>& artifacts);

}  // namespace cudamatrix
