// The data behind the templates of the Dockerfiles (names: templates/README.md).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "render/files/artifacts.hpp"
#include "render/files/attempt.hpp"
#include "render/image/image.hpp"
#include "render/lock/lock_file.hpp"
#include "render/templates/template.hpp"

namespace cudamatrix {

/// Everything that rendering one image looks at.
struct ImageInput {
    const Matrix& matrix;
    const Image& image;
    const Lock& lock;
    const RenderSettings& settings;
    const ImagePins* pins = lock.covering(image);  ///< nullptr: nothing is pinned
};

/// For Dockerfile.mustache, dockerignore.mustache and, with `wheels`, requirements.mustache.
[[nodiscard]] mustache::Data::Object dockerfile_model(const ImageInput& input);

/// The wheels of a toolkit.
inline constexpr std::string_view kCudaRequirements = "requirements-cuda.txt";

/// The distribution's packages that each stage gets: file name -> the value of `packages`. `pins` nullptr:
/// nothing is pinned. None where dnf installs: it reads no list.
[[nodiscard]] std::map<std::string, mustache::Data> package_files(const Image& image, const ImagePins* pins);

/// Of them, whether only the stages that compile read it.
[[nodiscard]] bool is_for_devel(std::string_view package_file);

/// Requirements files of the image: file name -> the value of `wheels`.
[[nodiscard]] std::map<std::string, mustache::Data> requirements_of(const ImageInput& input);

/// For lock.mustache. `lock`: its digests of registries' bases count; nullptr: none.
[[nodiscard]] mustache::Data::Object lock_model(const Matrix& matrix, const Image& image,
                                                const Lock* lock = nullptr);

/// For attempt.mustache: the model of the Dockerfile and the steps.
[[nodiscard]] mustache::Data::Object attempt_model(const ImageInput& input, const AttemptRequest& request);

/// "Debian 12 (bookworm), CUDA 11.8.0 ...": what the image is, in one line.
[[nodiscard]] std::string image_title(const Image& image);

/// Hash of the pins that the image rests on; "unpinned" where `of_image`, those that cover it, is nullptr.
[[nodiscard]] std::string pins_hash(const Image& image, const Lock& lock, const ImagePins* of_image);

// What the Dockerfile of an image and the one of its `lock` both have (names: templates/README.md).

/// Where the environment of the image's wheels lies.
inline constexpr std::string_view kVenv = "/opt/venv";
/// In place of a version or a hash that no lock gives.
inline constexpr std::string_view kUnpinned = "unpinned";

/// tool, image, header (empty), ca, netrc, cache, copies (empty), pip (its options and installer), python,
/// interpreter. `pins` nullptr: nothing is pinned.
[[nodiscard]] mustache::Data::Object common_model(const Matrix& matrix, const Image& image,
                                                  const ImagePins* pins);

/// Whether programs of the image run in an environment of their own.
[[nodiscard]] bool has_venv(const Image& image);

/// {package, version, pinned} of each: of the pins or, nullptr, of what is wanted.
[[nodiscard]] mustache::Data::List package_list(const std::vector<AptPin>* pins,
                                                const std::vector<std::string>& wanted);

/// The python that makes environments.
[[nodiscard]] std::string python_command(const Image& image);

/// A list of the value; empty where it is.
[[nodiscard]] mustache::Data::List list_of_one(const std::string& value);

// What the templates of families on a registry's base have beside the others (names: templates/README.md).

/// Adds the bases and the package sources of `image` to `model`, which has what all have in common. `lock`
/// nullptr: no digest counts.
void add_registry_model(mustache::Data::Object& model, const Matrix& matrix, const Image& image,
                        const Lock* lock);

}  // namespace cudamatrix
