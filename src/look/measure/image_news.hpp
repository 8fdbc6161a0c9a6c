// What image registries list that our facts do not know, what they no longer list, and rows of what is new
// there, made of the configurations of images.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/version.hpp"
#include "knowledge/facts/facts.hpp"
#include "look/measure/news.hpp"
#include "registry/oci.hpp"

namespace cudamatrix::measure {

// How the tags of an image repository are read: which release one belongs to, and which of them the rows of
// the facts stand for.

/// Tags of one release that make one row of the facts: those of 13.6.0 for ubuntu22.04 and ubuntu24.04.
struct ImageGroup {
    std::string release;            ///< as the scheme names it: 13.6.0, 2.15.0, 26.12-py3
    std::vector<std::string> tags;  ///< all that the registry lists of it, sorted
    std::string read;               ///< the tag whose configuration says most
    bool first = true;              ///< of the groups of its release
};

/// One scheme of image_repositories.
struct ImageScheme {
    std::string_view name;
    std::string_view table;  ///< of its rows
    /// Nothing: the tag does not have the form of the scheme.
    std::optional<std::string> (*release_of)(std::string_view tag, const Facts& facts);
    /// Of a row: what it says is there.
    std::vector<std::string> (*tags_of)(const Row& row);
    /// Of all tags of one release.
    std::vector<ImageGroup> (*groups)(const std::string& release, const std::vector<std::string>& tags);
};

/// Nothing: a scheme that is not read here.
[[nodiscard]] const ImageScheme* image_scheme(std::string_view name);

/// By which releases are compared: "26.12" of 26.12-py3.
[[nodiscard]] std::optional<Version> image_version(std::string_view release);

/// The word in the middle of docker.io/library/python's tags: 3.13-slim-trixie is of "3.13" and "trixie".
struct PythonTag {
    std::string python;
    std::string codename;
};
[[nodiscard]] std::optional<PythonTag> python_tag(std::string_view tag);

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
    OciConfig config;                 ///< of the image for the first of them
    /// Of the image for the second, where it was read (see_all_of_image).
    std::optional<OciConfig> second = {};
};

/// Reads the manifest and one configuration behind a tag; no layer.
[[nodiscard]] Result<SeenImage> see_image(OciClient& client, const ImageReference& reference);
/// The same of a manifest that was read already, with the configurations for all processors: what they ask of
/// the host may differ.
[[nodiscard]] Result<SeenImage> see_all_of_image(OciClient& client, const ImageReference& reference,
                                                 const OciManifest& manifest);

/// The row of other_images. Input failure: it is for no processor that is known.
[[nodiscard]] Result<MeasuredRow> other_image_row(const SeenImage& image);

/// Rows of image_libraries: one for all libraries that hold the same.
[[nodiscard]] std::vector<MeasuredRow> image_library_rows(const SeenImage& image, const std::string& arch,
                                                          const std::vector<LibraryCode>& libraries);

/// Rows of cuda_images and cuda_image_requirements, pytorch_images, ngc_images or python_images. Input
/// failure: a configuration that contradicts the tag, or that no row can hold.
[[nodiscard]] Result<std::vector<MeasuredRow>> image_rows(const ImageGroup& group, const Row& repository,
                                                          const SeenImage& image, const Facts& facts);

}  // namespace cudamatrix::measure
