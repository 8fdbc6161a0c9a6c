// What an image asks its archive and index for: the list that `lock` resolves and that stands in an unpinned
// Dockerfile (private to src/render).
#pragma once

#include <string>
#include <vector>

#include "render/image/image.hpp"

namespace cudamatrix {

struct Wanted {
    std::vector<std::string> devel;      ///< apt packages of the stage that compiles
    std::vector<std::string> toolkit;    ///< apt packages that are unpacked there
    std::vector<std::string> python;     ///< apt packages of the stage that fetches a wheel toolkit
    std::vector<std::string> runtime;    ///< apt packages of what users ship
    std::vector<std::string> cuda;       ///< requirements of the wheel toolkit, complete without dependencies
    std::vector<std::string> wheels;     ///< requirements of the image
    std::vector<std::string> installer;  ///< requirement of what installs those, in the build only
};

[[nodiscard]] Wanted wanted_of(const Image& image);

/// Options of pip that come from the mirror map and from the index of its torch's variant.
[[nodiscard]] std::vector<std::string> pip_options(const Image& image);

}  // namespace cudamatrix
