// Ways out for an nvidia/cuda image that cannot be had: the nearest tags that exist.
#pragma once

#include <vector>

#include "knowledge/resolve/images.hpp"

namespace cudamatrix::rules {

/// Existing tags next to `wanted`: the nearest of the same release line and the nearest on the same
/// distribution, without `wanted` itself and without doubles. Parts that `wanted` leaves empty are free.
[[nodiscard]] std::vector<CudaTag> nearest_cuda_tags(const Facts& facts, const CudaTag& wanted);
/// The same as fixes of the fields by which the cell names its image.
[[nodiscard]] std::vector<FixOption> nearest_cuda_images(const Facts& facts, const CudaImage& image);
/// `tag` in place of the image's own.
[[nodiscard]] FixOption set_to_tag(const CudaImage& image, const CudaTag& tag);

}  // namespace cudamatrix::rules
