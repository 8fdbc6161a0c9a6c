// Images by their names: references, tags, and the rows that know about them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/facts/facts.hpp"

namespace cudamatrix::lookup {

/// An image reference in full: "nvidia/cuda:12.4.1-base-ubuntu22.04" is of docker.io/nvidia/cuda.
struct ImageReference {
    std::string name;         ///< as written, without tag and digest
    std::string repository;   ///< with its registry
    std::string tag;          ///< latest where none is written, as engines read it
    bool pinned = false;      ///< a digest is written: the tag decides nothing
    std::string digest = {};  ///< "sha256:...", where one is written
};
[[nodiscard]] ImageReference image_reference(std::string_view text);

/// The row of other_images of a reference with a tag or a digest.
[[nodiscard]] std::optional<Row> other_image(const Facts& facts, const ImageReference& reference);

/// Whether the text has the length and the characters of a condition that `requires` of it may hold.
[[nodiscard]] bool is_condition(std::string_view text);

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

/// A tag of pytorch/pytorch in its parts: "2.6.0-cuda12.4-cudnn9-devel", "1.5-cuda10.1-cudnn7-devel".
struct PytorchTag {
    std::string torch, cuda, cudnn, flavour;  ///< as the tag writes them
    [[nodiscard]] std::string text() const;
    [[nodiscard]] std::string release() const;  ///< 1.5.0 of a tag that says 1.5
    [[nodiscard]] std::string variant() const;  ///< cu124
    /// Spelled like all tags since the policy pytorch-tag-form: three parts of torch, one of cuDNN.
    [[nodiscard]] bool is_full() const;
};
[[nodiscard]] std::optional<PytorchTag> pytorch_tag(std::string_view tag);
/// The tag that a row of pytorch_images describes, spelled as that release spells it.
[[nodiscard]] PytorchTag pytorch_tag_of(const Row& row, std::string_view cuda, std::string_view flavour);
/// Whether the row is of the tag's spelling: CUDA, cuDNN and flavour are not looked at.
[[nodiscard]] bool spells_torch(const Row& row, const PytorchTag& tag);

/// Rows of cuda_images of the release that a tag names, and whether a missing one means "never existed".
struct CudaRelease {
    std::vector<Row> rows;  ///< of this release; empty: none
    bool settled = false;   ///< the facts reach beyond the release: what is not there never was
};
[[nodiscard]] CudaRelease cuda_release_images(const Facts& facts, std::string_view cuda);
/// The row that holds the tag.
[[nodiscard]] std::optional<Row> cuda_image_row(const CudaRelease& release, const CudaTag& tag);

/// Rows of cuda_images of newer updates of the same minor that have images, oldest first.
[[nodiscard]] std::vector<Row> newer_updates(const Facts& facts, const Row& image);

/// When a tag of nvidia/cuda was no longer supported, for a newer update of its minor had images.
struct Superseded {
    std::string day;        ///< YYYY-MM-DD or YYYY-MM: NVIDIA moved the Dockerfile, or the update came out;
                            ///< empty: no fact names it
    std::optional<Row> by;  ///< row of cuda_images of the next update; none: no fact knows it
};
/// Of a row of cuda_images; nothing where it is of the newest update and not past its end.
[[nodiscard]] std::optional<Superseded> superseded(const Facts& facts, const Row& image);

/// Rows of `table` whose `column` is `value`.
[[nodiscard]] std::vector<Row> rows_with(const Facts& facts, std::string_view table, std::string_view column,
                                         std::string_view value);

/// The tag of nvidia/cuda that family nvidia-cuda is built on. `cuda` exact; `flavour` base, runtime, devel
/// or empty; with `cudnn` the tag that brings it, spelled as the tags of that release spell it.
[[nodiscard]] CudaTag family_cuda_tag(const Facts& facts, std::string_view cuda, std::string_view os,
                                      std::string_view flavour, bool cudnn);

/// The row that says that the tag of pytorch/pytorch was pushed, whatever its cuDNN.
[[nodiscard]] std::optional<Row> pytorch_image(const Facts& facts, std::string_view torch,
                                               std::string_view cuda, std::string_view flavour);

/// What an image of nvcr.io/nvidia/pytorch shall hold; versions without a variant, empty: anything.
struct NgcWanted {
    std::string torch;
    std::string cuda;
    std::string python;
    std::string os;
    std::string_view arch = "x86_64";
};
/// The row of the newest of them that holds it and is published for the processor; where no row says all of
/// that, of the newest whose row does not say otherwise: its columns python and os may be absent.
[[nodiscard]] std::optional<Row> ngc_image(const Facts& facts, const NgcWanted& wanted);

/// The row of the tag MINOR-slim-SUITE of the official image python; `os` empty: on the newest distribution.
[[nodiscard]] std::optional<Row> python_image(const Facts& facts, std::string_view minor,
                                              std::string_view os);

/// The official image of a distribution, which is rebuilt under one tag: "docker.io/library/debian:bookworm";
/// empty where no fact knows one for that processor.
[[nodiscard]] std::string distribution_image(const Facts& facts, std::string_view os, std::string_view arch);

/// The standalone build of a minor of python ("3.12") that the pinned installer knows.
[[nodiscard]] std::optional<Row> standalone_python(const Facts& facts, std::string_view minor);

/// The words of NVIDIA_DRIVER_CAPABILITIES, sorted; `reserved`: those that a reservation of a GPU takes, too.
[[nodiscard]] std::vector<std::string> gpu_capabilities(const Facts& facts, bool reserved);

/// The first word of a comma-separated NVIDIA_DRIVER_CAPABILITIES that is neither all nor one of these;
/// empty: each is.
[[nodiscard]] std::string unknown_capability(const Facts& facts, std::string_view value);

}  // namespace cudamatrix::lookup
