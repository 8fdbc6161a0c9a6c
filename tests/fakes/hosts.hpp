// Machines as folders: bin/ in the place of PATH, proc/ and etc/ in the place of the system's.
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <vector>

#include "folders.hpp"
#include "run/host/host.hpp"

namespace cudamatrix::fakes {

/// The folders of tests/fakes/hosts, sorted.
inline std::vector<std::filesystem::path> hosts() {
    std::vector<std::filesystem::path> folders;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(tests_dir()) / "fakes" / "hosts"))
        folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    return folders;
}

/// A machine that consists of nothing but `folder`.
inline probe::Machine machine(const std::filesystem::path& folder) {
    return {.environment = {{"PATH", (folder / "bin").string()}},
            .root = folder,
            .arch = "x86_64",
            .glibc = "2.36",
            .time_limit = std::chrono::seconds(2)};
}

}  // namespace cudamatrix::fakes
