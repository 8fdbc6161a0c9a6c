// One cell -> what its image would hold.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "render/image/image.hpp"

namespace cudamatrix {

/// The image that `cell` alone would get (without id, cells, compute and ptx), or why it gets none.
[[nodiscard]] std::variant<Image, std::string> resolve_cell(const Matrix& matrix, const Cell& cell,
                                                            const Facts& facts, const Taken& taken = {});

/// The folder of the templates that render `image`: "debian", "registry".
[[nodiscard]] std::string template_folder(const Image& image);

/// Compute capability that the cell's GPU has, in plain form ("9.0"); empty where the cell says nothing about
/// it.
[[nodiscard]] std::string compute_of(const Cell& cell, const Facts& facts);

/// Stable and injective over what the image holds; legal as file name, image tag and compose service.
[[nodiscard]] std::string image_id(const Image& image, const Facts& facts);

/// Everything that the image holds, in one line: equal for cells that share one.
[[nodiscard]] std::string content_key(const Image& image);

// What an image asks its archive and index for: the list that `lock` resolves and that stands in an unpinned
// Dockerfile.

struct PackageRequests {
    std::vector<std::string> devel;    ///< apt packages of the stage that compiles
    std::vector<std::string> toolkit;  ///< apt packages that are unpacked there
    std::vector<std::string> python;   ///< apt packages of the stage that fetches a wheel toolkit
    std::vector<std::string> runtime;  ///< apt packages of what users ship
    std::vector<std::string>
        cuda;  ///< requirements of the wheel toolkit and its libraries, complete without dependencies
    std::vector<std::string> wheels;     ///< requirements of the image
    std::vector<std::string> installer;  ///< requirement of what installs those, in the build only
};

[[nodiscard]] PackageRequests package_requests(const Image& image);

/// Options of pip that come from the mirror map and from the index of its torch's variant.
[[nodiscard]] std::vector<std::string> pip_options(const Image& image);

}  // namespace cudamatrix
