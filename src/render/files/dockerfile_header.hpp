// What stands at the head of a Dockerfile: whom it serves, and the commands that make the image by hand.
#pragma once

#include <string>

#include "render/files/dockerfile_model.hpp"

namespace cudamatrix {

/// The lines of the comment, without "# ".
[[nodiscard]] mustache::Data::List dockerfile_header(const ImageInput& input);

/// Whether packages and wheels stay in cache mounts of BuildKit.
[[nodiscard]] bool uses_cache_mounts(const Matrix& matrix);

/// What rendered files say where `build: network` is none, which it is where nobody chose: empty otherwise.
[[nodiscard]] std::string no_network_note(const Matrix& matrix);

}  // namespace cudamatrix
