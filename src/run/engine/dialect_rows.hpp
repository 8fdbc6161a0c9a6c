// The rows of the table of engines, each in a file of its own, and what the command lines of docker and
// podman have in common.
#pragma once

#include "run/engine/dialect.hpp"

namespace cudamatrix::engine {

[[nodiscard]] Dialect docker_dialect();
[[nodiscard]] Dialect podman_dialect();
/// podman, but for what builds.
[[nodiscard]] Dialect buildah_dialect();

/// The row of a client that takes docker's words, without what is its own: probes, `build` and `run`.
[[nodiscard]] Dialect client_like_docker();

/// Adds options, then the context; `reference` is the name that the engine gives the result.
void add_build_arguments(const BuildRequest& request, const std::string& reference, Argv& argv);

/// run with all that hardens a container; adds `own` and what is behind the options.
[[nodiscard]] Argv hardened_run(const RunRequest& request, const Argv& own);

}  // namespace cudamatrix::engine
