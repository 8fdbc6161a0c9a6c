#pragma once

#include <stdlib.h>
#include <sys/stat.h>

#include <string>

namespace cudamatrix::suite {

[[nodiscard]] inline std::string file_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

[[nodiscard]] inline bool file_exists(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

/// Without symbolic links; as it is where it does not exist.
[[nodiscard]] inline std::string real_path(const std::string& path) {
    char* resolved = ::realpath(path.c_str(), nullptr);
    const std::string text = resolved != nullptr ? resolved : path;
    ::free(resolved);
    return text;
}

}  // namespace cudamatrix::suite
