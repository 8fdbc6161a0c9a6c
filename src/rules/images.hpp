// The image that a cell starts from, as far as its name tells: shared by the rules about images.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/subject.hpp"

namespace cudamatrix::rules {

/// An image reference in full: "nvidia/cuda:12.4.1-base-ubuntu22.04" is of docker.io/nvidia/cuda.
struct ImageReference {
    std::string name;        ///< as written, without tag and digest
    std::string repository;  ///< with its registry
    std::string tag;         ///< empty: none is written
    bool pinned = false;     ///< a digest is written: the tag decides nothing
};
[[nodiscard]] ImageReference image_reference(std::string_view text);

/// The row of image_repositories of a reference's repository, or of the one that a family is built on.
[[nodiscard]] std::optional<Row> image_repository(const Facts& facts, std::string_view repository);
[[nodiscard]] std::optional<Row> family_repository(const Facts& facts, std::string_view family);

/// A tag of nvidia/cuda in its parts: "12.4.1-cudnn-devel-ubuntu22.04".
struct CudaTag {
    std::string cuda;     ///< as the tag writes it: 12.4.1, 10.2
    std::string flavour;  ///< devel, cudnn-devel, cudnn8-runtime; empty: any
    std::string os;       ///< empty: none
    [[nodiscard]] std::string text() const;
    [[nodiscard]] std::string_view kind() const;  ///< base, runtime, devel
    [[nodiscard]] bool has_cudnn() const { return flavour.starts_with("cudnn"); }
};
[[nodiscard]] std::optional<CudaTag> cuda_tag(std::string_view tag);

/// A tag of pytorch/pytorch in its parts: "2.6.0-cuda12.4-cudnn9-devel".
struct PytorchTag {
    std::string torch, cuda, cudnn, flavour;
    [[nodiscard]] std::string text() const;
    [[nodiscard]] std::string variant() const;  ///< cu124
};
[[nodiscard]] std::optional<PytorchTag> pytorch_tag(std::string_view tag);

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

/// The CUDA minor of the compat libraries that the cell's image brings: those of nvidia/cuda (by reference or
/// by family) for x86_64 do, from CUDA 10.0 on; nothing for others.
[[nodiscard]] std::optional<std::string> compat_in_image(const Context& context);

/// Rows of cuda_images of the release that a tag names, and whether a missing one means "never existed".
struct CudaRelease {
    std::vector<Row> rows;  ///< of this release; empty: none
    bool settled = false;   ///< the facts reach beyond the release: what is not there never was
};
[[nodiscard]] CudaRelease cuda_release_images(const Facts& facts, std::string_view cuda);
/// The row that holds the tag.
[[nodiscard]] std::optional<Row> cuda_image_row(const CudaRelease& release, const CudaTag& tag);

/// Rows of `table` whose `column` is `value`.
[[nodiscard]] std::vector<Row> rows_with(const Facts& facts, std::string_view table, std::string_view column,
                                         std::string_view value);

/// The value of a member of env or packages, nothing where it is not written.
[[nodiscard]] std::optional<std::string_view> member(const Context& context, Field field,
                                                     std::string_view name);

}  // namespace cudamatrix::rules
