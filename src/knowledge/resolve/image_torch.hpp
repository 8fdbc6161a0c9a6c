// The torch that no index has: the build inside an image of NVIDIA's own. Rules that know wheels only ask
// here which torch is inside, and say that it is unknown what a wheel cannot tell of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "knowledge/resolve/context.hpp"
#include "knowledge/resolve/resolve.hpp"

namespace cudamatrix::rules {

/// The torch of an image nvcr.io/nvidia/pytorch. It is made from the sources on the way to a release, calls
/// itself a pre-release of it (2.9.0a0+145a3a7bda) and is compiled for the CUDA of its image.
struct ImageTorch {
    Field field = Field::image;      ///< image or family: what brings it
    std::string image;               ///< "image nvcr.io/nvidia/pytorch:25.10-py3"
    std::string text;                ///< "torch 2.9.0a0 of image nvcr.io/nvidia/pytorch:25.10-py3"
    std::optional<Row> row;          ///< of ngc_images; none: no fact describes the image
    std::optional<Version> release;  ///< 2.9.0; none: no fact says which
    std::string cuda;                ///< "13.0.2"; empty: no fact says which
    /// The fields that decide which it is, `first` before them.
    [[nodiscard]] std::vector<Field> about(const Context& context, Field first) const;
    [[nodiscard]] std::vector<FactRef> facts() const;
};
/// Nothing where the cell's torch is a wheel, or where it wants none. A rule that asks declares image,
/// family, torch, cuda, python, os and arch.
[[nodiscard]] std::optional<ImageTorch> image_torch(const Context& context);

}  // namespace cudamatrix::rules
