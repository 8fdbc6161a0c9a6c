// Which images the cells need.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "render/image/image.hpp"

namespace cudamatrix {

/// A cell that gets no image, and why: "os windows: family debian is rendered on debian11, debian12 or
/// debian13".
struct Refusal {
    std::string cell;
    std::string reason;
};

struct ImagePlan {
    std::vector<Image> images;      ///< in the order of their first cell
    std::vector<Refusal> refusals;  ///< in the order of the cells
};

/// Groups `cells` by what their image holds, once for each entry of images that matches them (or once, where
/// the matrix has none). A cell that no entry matches is refused, and one that an entry which matches it
/// cannot serve: no image of it is made silently without the others. Fields that the matrix leaves open are
/// filled in for rendering only: family debian, its first flavour, arch x86_64, and the newest distribution
/// that supplies the toolkit and has a python for the torch wheel.
///
/// compute of an image: the union of its cells' compute capabilities (`compute`, else the GPU's), each
/// lowered to the nearest target of the same major version that the toolkit's nvcc knows; one that has none
/// is left to the PTX. Cells without either get the lowest target from 6.0 on (the suite's floor) and the
/// highest. ptx: the highest of them.
[[nodiscard]] ImagePlan plan_images(const Matrix& matrix, const std::vector<PlannedCell>& cells,
                                    const Facts& facts, const Taken& taken = {});

/// The cells that get none for one reason.
struct RefusalGroup {
    std::string reason;
    std::string fix;         ///< what the reason says to write; else where to look
    std::size_t cells = 0;   ///< in `refusals`
    std::string first_cell;  ///< id
};
/// Where a cell says which of our images it wants; nowhere where it does not.
[[nodiscard]] Location place_of_family(const Cell& cell);
/// In the order of their first cells.
[[nodiscard]] std::vector<RefusalGroup> grouped(const std::vector<Refusal>& refusals);
/// Those of plan_images, without making the images.
[[nodiscard]] std::vector<Refusal> refusals_of(const Matrix& matrix, const std::vector<PlannedCell>& cells,
                                               const Facts& facts, const Taken& taken = {});

/// Targets of a toolkit's nvcc ("13.0") by which code for every GPU since 6.0, the suite's floor,
/// is made: the lowest of each major, ascending. Empty where no fact knows the toolkit.
[[nodiscard]] std::vector<std::string> portable_targets(const Facts& facts, const std::string& cuda);

// Which services the compose files have: what services: of the matrix file says, over the images.

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
