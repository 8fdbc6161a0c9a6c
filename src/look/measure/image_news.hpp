// What image registries list that our facts do not know, what they no longer list, and rows of what is new
// there, made of the configurations of images.
#pragma once

#include <string>
#include <vector>

#include "knowledge/facts/facts.hpp"
#include "look/measure/image_scheme.hpp"
#include "look/measure/news.hpp"
#include "registry/oci.hpp"

namespace cudamatrix::measure {

struct ImageNews {
    std::vector<Change> changes;     ///< vanished and new tags, one change for each release
    std::vector<ImageGroup> groups;  ///< of the releases that have tags which no row knows
};

/// Of all tags of a repository, by the scheme of its row of image_repositories. Tags that do not have the
/// form of the scheme are passed over (nightly builds, floating tags), and so is what is older than all that
/// the facts have of it.
[[nodiscard]] ImageNews image_news(const std::vector<std::string>& tags, const Row& repository,
                                   const Facts& facts);

/// What a registry says of the image behind a tag.
struct SeenImage {
    std::string reference;            ///< "docker.io/nvidia/cuda:13.6.0-devel-ubuntu24.04"
    std::string digest;               ///< of the tag: of its index where it has one
    std::vector<std::string> arches;  ///< x86_64, aarch64
    OciConfig config;                 ///< of the image for one of them
};

/// Reads the manifest and one configuration behind a tag; no layer.
[[nodiscard]] Result<SeenImage> see_image(OciClient& client, const ImageReference& reference);

/// Rows of cuda_images and cuda_image_requirements, pytorch_images, ngc_images or python_images. Input
/// failure: a configuration that contradicts the tag, or that no row can hold.
[[nodiscard]] Result<std::vector<MeasuredRow>> image_rows(const ImageGroup& group, const Row& repository,
                                                          const SeenImage& image, const Facts& facts);

}  // namespace cudamatrix::measure
