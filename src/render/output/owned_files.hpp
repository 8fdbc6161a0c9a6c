// Which files of an output folder are ours: the list that each render leaves there (private to src/render).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace cudamatrix {

/// A file of the output folder.
struct Artifact {
    std::filesystem::path path;  ///< relative to the output folder, made of ids only
    std::string content;
    std::string sha256 = {};  ///< of the content, where it was counted already; else empty
};

using OwnedFiles = std::map<std::string, std::string>;  ///< path, relative to the folder -> sha256

/// A list or an index that is longer was not written by us.
inline constexpr std::uint64_t kLargestIndex = 256u << 20;

/// The files that earlier renders wrote below `out`, by kOwnedFile or, where that is missing, by index.json;
/// none where neither is there. Refused where either is there and not ours.
[[nodiscard]] Result<OwnedFiles> owned_files(const std::filesystem::path& out);

/// The list of `artifacts` and of what stays there beside them.
[[nodiscard]] std::string owned_text(const std::vector<Artifact>& artifacts, const OwnedFiles& orphans);

}  // namespace cudamatrix
