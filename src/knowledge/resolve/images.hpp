// The image that a cell starts from, as far as its name tells, and the nearest ones that exist.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/facts/images.hpp"
#include "knowledge/resolve/context.hpp"
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
using lookup::other_image;
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

/// YYYY-MM-DD: from when on NVIDIA may delete an image of nvidia/cuda that it no longer supports since that
/// day (YYYY-MM-DD).
[[nodiscard]] std::string deletable_from(const Facts& facts, std::string_view since);

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

// The torch that no index has: the build inside an image of NVIDIA's own. Rules that know wheels only ask
// here which torch is inside, and say that it is unknown what a wheel cannot tell of it.

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

// The condition that an nvidia/cuda image puts on its host, NVIDIA_REQUIRE_CUDA, and whether a host meets it.

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
