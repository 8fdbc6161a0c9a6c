// Images out of an engine's store, as a tar on standard output.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/process.hpp"
#include "base/result.hpp"

namespace cudamatrix::engine {

/// "docker:NAME" or "podman:NAME": an image in the store of that engine.
struct StoredImage {
    std::string engine;
    std::string reference;
};
/// Nothing for what does not begin with the name of an engine that can save images and a colon.
[[nodiscard]] std::optional<StoredImage> parse_stored_image(std::string_view target);

/// The call that writes a tar of the image (docker-archive) to standard output. An input failure where the
/// reference is none, an environment failure where the engine's client is not on PATH.
[[nodiscard]] Result<Command> save_command(const StoredImage& image, const Environment& environment);

}  // namespace cudamatrix::engine
