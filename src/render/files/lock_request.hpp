// The question that `lock` asks an image's own apt and pip, and the reading of their answers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "render/files/artifacts.hpp"
#include "render/image/image.hpp"
#include "render/lock/lock_file.hpp"

namespace cudamatrix {

/// Files of a build context whose target `lock` holds text files only: Dockerfile and .dockerignore. The
/// bootstrap tar is put beside them under Bootstrap::file. Uses the network of builds.
/// A registry's bases are named with their digests in `lock`, where it has them.
[[nodiscard]] Result<std::vector<Artifact>> lock_request(const Matrix& matrix, const Image& image,
                                                         const RenderSettings& settings,
                                                         const Lock* lock = nullptr);

/// A file of that target by name ("apt-devel.txt"), nullopt when it is not there.
using LockAnswer = std::function<std::optional<std::string>(std::string_view name)>;

struct Resolved {
    ImagePins pins;
    std::vector<AptPin> base_packages;  ///< what the bootstrap tar holds
};

/// Reads the answers for `image`. They come out of a container and are not trusted: anything that is no
/// package name, version or digest is an environment failure that names the file.
[[nodiscard]] Result<Resolved> read_resolution(const Image& image, const LockAnswer& answer);

}  // namespace cudamatrix
