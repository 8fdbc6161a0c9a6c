// Is there room for what shall be built? Asked before anything is started: a full disk in the middle helps
// nobody.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.hpp"
#include "render/image/image.hpp"

namespace cudamatrix::job {

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
