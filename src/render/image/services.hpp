// Which services the compose files have: what services: of the matrix file says, over the images that there
// are (private to src/render).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "render/image/image.hpp"

namespace cudamatrix {

struct ComposeService {
    std::string name;
    std::size_t image = 0;             ///< index of its image
    const Service* service = nullptr;  ///< of the deployment; nullptr: it says nothing about services
};

struct ServicePlan {
    std::vector<ComposeService> services;  ///< in the order of the matrix file, then of the images
    std::vector<std::string> left_out;     ///< services none of whose images is rendered
};

/// One for each image that a service names, called as the service where that is one image, else
/// "trainer-<image id>". Input failures, with their place: two of one name, and a port of the host that
/// several would publish.
[[nodiscard]] Result<ServicePlan> plan_services(const Deployment& deployment,
                                                const std::vector<Image>& images);

}  // namespace cudamatrix
