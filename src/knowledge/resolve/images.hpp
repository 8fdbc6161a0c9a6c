// The image that a cell starts from, as far as its name tells, and the nearest ones that exist.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/facts/images.hpp"
#include "knowledge/resolve/resolve.hpp"

namespace cudamatrix::rules {

using lookup::cuda_image_row;
using lookup::cuda_release_images;
using lookup::cuda_tag;
using lookup::CudaRelease;
using lookup::CudaTag;
using lookup::family_repository;
using lookup::image_reference;
using lookup::image_repository;
using lookup::ImageReference;
using lookup::pytorch_tag;
using lookup::PytorchTag;
using lookup::rows_with;

/// What the cell's `image`, or its family with cuda, os, flavour and cudnn, says about an nvidia/cuda image.
struct CudaImage {
    CudaTag tag;
    std::string text;  ///< "image nvidia/cuda:12.4.1-devel-ubuntu22.04"
    std::string name;  ///< the reference without its tag
    bool by_reference = false;
    bool pinned = false;
    Field field = Field::image;  ///< the one that names the release
};
/// Nothing when the cell names no such image, or not enough of it.
[[nodiscard]] std::optional<CudaImage> cuda_image(const Context& context);

/// The image that family ngc is built on for the cell: nothing where the cell is of another family or names
/// an image itself, a row that is missing where no fact knows one that holds what the cell says. Reads image,
/// family, torch, cuda, python, os and arch.
struct NgcImage {
    std::string repository;  ///< "nvcr.io/nvidia/pytorch"
    std::string wanted;      ///< "torch 2.10.0, CUDA 13.1"
    std::optional<Row> row;
};
[[nodiscard]] std::optional<NgcImage> ngc_image_of_family(const Context& context);

/// The compat libraries that an image brings.
struct ImageCompat {
    std::string cuda;         ///< their minor
    std::string_view policy;  ///< which one says so
};
/// Of the cell's image: those of nvidia/cuda and of nvcr.io/nvidia/pytorch (by reference, or by family and
/// CUDA) bring them, from the CUDA and on the processors that the policy names; nothing for others.
[[nodiscard]] std::optional<ImageCompat> compat_in_image(const Context& context);

/// The parts of a tag that is none, as far as they can be read.
[[nodiscard]] CudaTag cuda_tag_like(std::string_view tag);

/// The row of a policy about images: overlays may replace it, and take none away.
[[nodiscard]] Row image_policy(const Facts& facts, std::string_view policy);

/// The value of a member of env or packages, nothing where it is not written.
[[nodiscard]] std::optional<std::string_view> member(const Context& context, Field field,
                                                     std::string_view name);

/// How a cell names an image of pytorch/pytorch.
struct PytorchImage {
    std::string text;  ///< "image pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel"
    std::string name;
    bool by_reference = false;
    [[nodiscard]] std::vector<Field> about() const {
        if (by_reference) return {Field::image};
        return {Field::torch, Field::flavour, Field::family};
    }
};

/// The newest known tag of that torch or an older one, with the same flavour and no newer CUDA where there is
/// one.
[[nodiscard]] std::optional<PytorchTag> nearest_pytorch(const Context& context, const PytorchImage& image,
                                                        const PytorchTag& tag);

/// Existing tags other than `wanted`, the nearest of the release line first, and the nearest on the same
/// distribution first. Parts that `wanted` leaves empty are free.
struct NearTags {
    std::vector<CudaTag> on_line, on_os;
};
[[nodiscard]] NearTags near_cuda_tags(const Facts& facts, const CudaTag& wanted);
/// The first of both, without doubles.
[[nodiscard]] std::vector<CudaTag> nearest_cuda_tags(const Facts& facts, const CudaTag& wanted);
/// `tag` in place of the image's own.
[[nodiscard]] FixOption set_to_tag(const CudaImage& image, const CudaTag& tag);

}  // namespace cudamatrix::rules
