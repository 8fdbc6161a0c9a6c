// Which engine does the work, and the calls that ask it about images.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"
#include "base/result.hpp"
#include "run/engine/dialect.hpp"

namespace cudamatrix::engine {

/// An engine that was seen to work, ready to be called.
struct Engine {
    const Dialect* dialect = nullptr;
    std::string program;       ///< absolute path of its client (`host`: of nvcc)
    Environment environment;   ///< for every call of it
    std::string version;       ///< of client and server (`host`: of nvcc)
    std::string why;           ///< why this one, in one sentence
    bool gpu_runtime = false;  ///< it can hand a GPU to a container

    [[nodiscard]] std::string_view name() const { return dialect->name; }
    [[nodiscard]] bool containers() const { return dialect->containers; }
    /// A call with `arguments` of the dialect.
    [[nodiscard]] Command command(Argv arguments) const;
};

/// `wanted` is auto, docker or host. auto takes docker where a client, its daemon and BuildKit work, else the
/// host's own nvcc. An engine that was asked for and does not work is an environment failure (exit code 3)
/// that says what is missing and the fix; so is auto without any. `fallback_clients` are tried after those on
/// PATH.
[[nodiscard]] Result<Engine> choose(std::string_view wanted, const Environment& environment,
                                    const Cancellation* cancellation,
                                    const std::vector<std::string>& fallback_clients = {"/usr/bin/docker"});

struct ImageInfo {
    std::string id;  ///< sha256:...
    std::uint64_t bytes = 0;
    std::map<std::string, std::string> labels;
};

/// What the engine knows of `reference`; nullopt when there is no such image. Anything else is an environment
/// failure.
[[nodiscard]] Result<std::optional<ImageInfo>> inspect(const Engine& engine, std::string_view reference,
                                                       const Cancellation* cancellation);

/// Where the engine keeps its images, when that is a folder of this machine; nullopt for a remote daemon.
[[nodiscard]] std::optional<std::filesystem::path> storage(const Engine& engine,
                                                           const Cancellation* cancellation);

}  // namespace cudamatrix::engine
