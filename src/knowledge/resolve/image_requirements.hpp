// The condition that an nvidia/cuda image puts on its host, NVIDIA_REQUIRE_CUDA, and whether a host meets it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/resolve/images.hpp"

namespace cudamatrix::rules {

/// The machine that the image is started on.
struct ImageHost {
    lookup::Driver driver;
    NativeCuda native;
    std::string_view gpu_class;  ///< datacenter, workstation, geforce, jetson; empty: not known
};
/// Nothing for a driver that no fact knows, except one older than all of them: that bounds its CUDA too.
[[nodiscard]] std::optional<ImageHost> image_host(const Context& context);

enum class RequirementAnswer {
    met,
    refused,
    depends_on_gpu,    ///< a clause names the driver's branch for some brands, and the GPU's is not known
    depends_on_image,  ///< the cell leaves the distribution open, and the images differ
    open               ///< the facts do not settle it
};

struct Requirement {
    RequirementAnswer answer = RequirementAnswer::open;
    std::vector<FactRef> facts;
    std::string text;  ///< "cuda>=12.6, or driver branch 470, 535 or 550 with a ... GPU"
};

/// The nvidia/cuda image that the cell names; a family without `os` names all images of its release.
[[nodiscard]] std::optional<CudaImage> started_image(const Context& context);
[[nodiscard]] Requirement requirement(const Context& context, const CudaImage& image, const ImageHost& host);

/// Whether the driver itself runs `cuda`: nothing where the facts leave it open.
[[nodiscard]] std::optional<bool> runs_natively(const NativeCuda& native, const Version& cuda);

}  // namespace cudamatrix::rules
