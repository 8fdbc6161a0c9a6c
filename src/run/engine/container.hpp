// One hardened container from start to certain end.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/process.hpp"
#include "base/result.hpp"
#include "run/engine/engine.hpp"

namespace cudamatrix::engine {

struct RunLimits {
    std::chrono::milliseconds time{std::chrono::minutes(10)};
    std::uint64_t output = 8u << 20;  ///< bytes of each stream; a container that writes more is ended
};

/// Runs the container and leaves none behind: whatever ended the client (its own exit, time-out, flood,
/// interrupt), the container is stopped and removed by name, each attempt bounded. Arguments that are
/// forbidden are refused unrun.
[[nodiscard]] Result<Outcome> run_container(
    const Engine& engine, const RunRequest& request, const RunLimits& limits,
    const Cancellation* cancellation,
    const std::function<void(std::string_view line, bool is_stderr)>& on_line = {});

/// Removes every container that carries the run's label; used at the end of an interrupted run. Bounded:
/// about 15 s.
void sweep(const Engine& engine, std::string_view run_id);

/// "cudamatrix-RUN-CELL": legal for every engine, at most 128 characters.
[[nodiscard]] std::string container_name(std::string_view run_id, std::string_view cell_id);

// Images out of an engine's store, as a tar on standard output.
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
