// References of container images, and the place that the mirror map gives for one.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace cudamatrix {

// The mirror map: one for registries, wheel indexes and archives.

/// prefix -> prefix, or the name of a source -> URL, as in `mirrors:` of a matrix file, in its order.
using Mirrors = std::vector<std::pair<std::string, std::string>>;

/// `text` with the longest prefix that fits replaced by its value. A prefix ends where a part of a path ends.
[[nodiscard]] std::string mirrored(std::string_view text, const Mirrors& mirrors);

/// What the map gives for exactly `name` ("pypi", "debian"), empty without one.
[[nodiscard]] std::string mirror_of(const Mirrors& mirrors, std::string_view name);

/// The tag of a reference that writes none.
inline constexpr std::string_view kLatestTag = "latest";

/// An image reference in full: "python:3.12" is docker.io/library/python:3.12.
struct ImageReference {
    std::string host;    ///< docker.io, registry.example.org:5000; lower case
    std::string path;    ///< library/python, nvidia/cuda
    std::string tag;     ///< may be empty
    std::string digest;  ///< "sha256:" and 64 digits; may be empty

    /// "docker.io/library/python".
    [[nodiscard]] std::string name() const { return host + "/" + path; }
    /// The whole canonical reference.
    [[nodiscard]] std::string text() const;
    friend bool operator==(const ImageReference&, const ImageReference&) = default;
};

/// Reads "HOST[:PORT]/PATH[:TAG][@DIGEST]" by the grammar of github.com/distribution/reference, digests of
/// sha256 only. The default host is docker.io, its default namespace library. Input failures name the part
/// that is wrong.
[[nodiscard]] Result<ImageReference> parse_image_reference(std::string_view text);

/// [a-z0-9]+, joined by one '.', one or two '_', or any number of '-'.
[[nodiscard]] bool is_image_path_part(std::string_view text);
/// "sha256:" and 64 lower-case hexadecimal digits.
[[nodiscard]] bool is_image_digest(std::string_view text);
/// A letter, digit or '_', then up to 127 of those, '.' and '-'.
[[nodiscard]] bool is_image_tag(std::string_view text);

/// What cells call a processor, and what engines and registries do.
inline constexpr std::pair<std::string_view, std::string_view> kOciArchitectures[] = {{"x86_64", "amd64"},
                                                                                      {"aarch64", "arm64"}};
/// An arch of a cell as registries name it: x86_64 is amd64. Others are called the same.
[[nodiscard]] std::string_view oci_architecture(std::string_view arch);

/// Where an image is asked for.
struct ImagePlace {
    std::string scheme;        ///< https; http for a host of this machine, or where the mirror says so
    ImageReference reference;  ///< what engines are told: FROM, docker pull
    /// "https://registry-1.docker.io": the registry that answers for it.
    [[nodiscard]] std::string origin() const;
};

/// The place of `reference` under the mirror map, whose keys are hosts or hosts with the first parts of a
/// path. An input failure where what comes out is no reference.
[[nodiscard]] Result<ImagePlace> place_of(const ImageReference& reference, const Mirrors& mirrors);

}  // namespace cudamatrix
