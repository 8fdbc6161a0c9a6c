// Which files of what was named may hold results.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace cudamatrix::collect {

struct FoundFile {
    std::string path;
    bool is_report = false;  ///< by its name; else its content decides
    bool is_named = false;   ///< by the user: it has to hold something
};

/// The files themselves, and those of folders, sorted by path within each. Input failures: what is not there
/// or cannot be read, and too many files.
[[nodiscard]] Result<std::vector<FoundFile>> find_files(const std::vector<std::string>& paths);

}  // namespace cudamatrix::collect
