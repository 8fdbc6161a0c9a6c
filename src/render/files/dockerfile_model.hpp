// The data behind the templates of the Dockerfiles (names: templates/README.md).
#pragma once

#include <map>
#include <string>

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
};

/// For Dockerfile.mustache, dockerignore.mustache and, with `wheels`, requirements.mustache.
[[nodiscard]] mustache::Data::Object dockerfile_model(const ImageInput& input);

/// Requirements files of the image: file name -> the value of `wheels`.
[[nodiscard]] std::map<std::string, mustache::Data> requirements_of(const ImageInput& input);

/// For lock.mustache. `lock`: its digests of registries' bases count; nullptr: none.
[[nodiscard]] mustache::Data::Object lock_model(const Matrix& matrix, const Image& image,
                                                const Lock* lock = nullptr);

/// For attempt.mustache: the model of the Dockerfile and the steps.
[[nodiscard]] mustache::Data::Object attempt_model(const ImageInput& input, const AttemptRequest& request);

/// "Debian 12 (bookworm), CUDA 11.8.0 ...": what the image is, in one line.
[[nodiscard]] std::string image_title(const Image& image);

/// Hash of the pins that the image rests on, "unpinned" without them.
[[nodiscard]] std::string pins_hash(const Image& image, const Lock& lock);

}  // namespace cudamatrix
