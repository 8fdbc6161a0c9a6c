// Which engine does the work, the calls that ask it about images, and its containers.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"
#include "base/result.hpp"
#include "run/engine/dialect.hpp"

namespace cudamatrix::engine {

/// Which engine is asked for.
struct Choice {
    std::string name = "auto";  ///< auto or a name of the table
    std::string host;           ///< URL of another machine's engine (mistake_in_host); empty: not said
    std::string builder;        ///< of buildx, for what any builder can build; empty: the engine's own
};

/// What is wrong with the URL of an engine: its form, a scheme other than ssh, tcp and unix, a password, or a
/// part that the engine's client or ssh would take for an option. Empty: nothing.
[[nodiscard]] std::string mistake_in_host(std::string_view url);

/// The same for the name of a builder.
[[nodiscard]] std::string mistake_in_builder(std::string_view name);

/// An engine that was seen to work, ready to be called.
struct Engine {
    const Dialect* dialect = nullptr;
    std::string program;        ///< absolute path of its client (`host`: of nvcc)
    std::string build_program;  ///< ... of what builds
    Environment environment;    ///< for every call of it
    Argv options;               ///< of its client, before each verb: which machine's engine
    std::string version;        ///< of client and server (`host`: of nvcc)
    std::string why;            ///< why this one, in one sentence
    std::string own_builder;    ///< of several builders the one with the engine's own store; empty: one only
    std::string builder;        ///< that was asked for; empty: own_builder
    bool gpu_runtime = false;   ///< it can hand a GPU to a container
    bool remote = false;        ///< on another machine: disks and GPUs of this one say nothing about it
    bool exports = true;        ///< its builds can write files out (BuildRequest::export_to)

    [[nodiscard]] std::string_view name() const { return dialect->name; }
    [[nodiscard]] bool containers() const { return dialect->containers; }
    /// A call with `arguments` of the dialect.
    [[nodiscard]] Command command(Argv arguments) const;
    /// The call that builds, by the builder that was asked for where that one can.
    [[nodiscard]] Command build_command(BuildRequest request) const;
};

/// An engine that was asked for and does not work is an environment failure (exit code 3) that says what is
/// missing and the fix. `auto` takes the first that works of those that the table says; none is an
/// environment failure with the reason for each. It never takes the host's own nvcc. `fallback_clients` of
/// docker are tried after those on PATH. Input failures: no such engine, a host or a builder for one that has
/// none.
[[nodiscard]] Result<Engine> choose(const Choice& choice, const Environment& environment,
                                    const Cancellation* cancellation,
                                    const std::vector<std::string>& fallback_clients = {"/usr/bin/docker"});

/// Engine host with the nvcc of `path` or, where that is empty, of PATH and else /usr/local/cuda/bin. None,
/// or one that does not tell its version, is an environment failure.
[[nodiscard]] Result<Engine> choose_nvcc(std::string_view path, const Environment& environment,
                                         const Cancellation* cancellation);

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

// One hardened container from start to certain end.

struct RunLimits {
    std::chrono::milliseconds time{std::chrono::minutes(10)};
    std::uint64_t output = 8u << 20;  ///< bytes of each stream; a container that writes more is ended
};

/// What a failed call says: the first line of its stderr, or else how it ended.
[[nodiscard]] std::string reason_of(const Outcome& outcome);

/// A row of Dialect::list and Dialect::list_images.
struct Listed {
    std::string id;
    std::string name;
};
[[nodiscard]] std::vector<Listed> read_list(std::string_view answer);

/// A short call (inspect, list ...): bounded in time and output.
[[nodiscard]] Result<Outcome> ask(const Engine& engine, Argv arguments, const Cancellation* cancellation);

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
