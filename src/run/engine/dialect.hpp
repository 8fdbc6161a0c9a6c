// THE table of engines: what each one's command line looks like. Argument vectors only, built from checked
// values; nothing here runs anything. A new engine is one row.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/process.hpp"

namespace cudamatrix::engine {

using Argv = std::vector<std::string>;

/// Labels by which images and containers of ours are found again.
inline constexpr std::string_view kRunLabel = "io.cudamatrix.run";  ///< on containers: the run's id
inline constexpr std::string_view kFolderLabel =
    "io.cudamatrix.folder";  ///< on containers: hash of the output folder's path

/// One image build. Everything but `context` and `ca_bundle` comes from ids that our own code made.
struct BuildRequest {
    std::filesystem::path context;     ///< the image's folder
    std::filesystem::path dockerfile;  ///< empty: "Dockerfile" of the context
    std::string target;                ///< stage to build; empty: the last one
    std::string reference;             ///< name:tag of the result; empty: none (with `export_to`)
    std::string platform;              ///< linux/arm64; empty: the engine's own
    std::string network;               ///< none, host or default (the engine's own), nothing else ever
    std::string ca_bundle;             ///< given as the secret `ca`; empty: none
    std::string netrc;                 ///< ... as the secret `netrc`
    std::vector<std::pair<std::string, std::string>> labels;
    /// Variables of the client's own environment that steps get, their values in no argument vector.
    std::vector<std::string> forwarded;
    std::filesystem::path export_to;  ///< the target's files are written here instead of becoming an image
    bool no_cache = false;            ///< resolve anew, whatever the build cache holds
    /// It stands on an image that is in the engine's store and nowhere else, so that no builder but the
    /// engine's own finds it.
    bool needs_store = false;
    std::string builder;  ///< set by Engine::build_command: of several builders this one; empty: there is one
};

/// One container run, hardened: no network, read-only, no capabilities, nothing mounted, bounded in memory,
/// processors and processes.
struct RunRequest {
    std::string image;       ///< id or name:tag; never pulled
    std::string name;        ///< container name, by which it is ended
    std::string run_id;      ///< value of kRunLabel
    std::string folder;      ///< value of kFolderLabel
    std::string entrypoint;  ///< empty: the image's
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> environment;
    std::optional<unsigned> gpu;  ///< index of the one GPU that the container sees
    std::uint64_t memory_mib = 4096;
    std::uint64_t shm_mib = 64;   ///< of /dev/shm
    std::uint64_t tmp_mib = 512;  ///< of the noexec /tmp
    unsigned processes = 512;
    unsigned cpus = 1;  ///< at most those of the engine's machine: it refuses more
};

/// How an engine hands a GPU to a container.
enum class GpuForm { none, hook, cdi };

/// What a client says of itself.
struct Probed {
    std::string version;
    std::string why_not;        ///< why it cannot be used; empty: it can
    bool needs_buildx = false;  ///< its builds go through the plugin buildx, which may be missing
    bool service = false;       ///< all work is done by another process, reached through a socket
};

/// A row of the table. `host` has no containers: its builders are null.
struct Dialect {
    std::string_view name;
    std::string_view program;        ///< its client
    std::string_view build_program;  ///< what builds, where that is another program
    bool containers = false;
    bool automatic = false;    ///< `auto` tries it
    std::string_view install;  ///< what to do where its program is missing
    std::string_view repair;   ///< ... where none of its clients works
    GpuForm gpus = GpuForm::none;
    bool shares_running_steps = false;  ///< builds that run side by side make a step that they share once

    Argv (*probe)() = nullptr;  ///< succeeds where the engine can work; JSON on stdout
    Probed (*read_probe)(const Outcome&) = nullptr;
    Argv (*probe_builder)() = nullptr;                ///< of build_program
    Argv (*at_host)(std::string_view url) = nullptr;  ///< options before each verb: another machine's engine
    std::string_view host_variable;                   ///< ... which this variable names as well
    Argv (*buildx)() = nullptr;                       ///< succeeds where the plugin is there
    Argv (*context)() = nullptr;  ///< "NAME URL": the name of the engine's own builder, and where it is
    Argv (*builder)(std::string_view name) = nullptr;  ///< succeeds where there is a builder of that name

    Argv (*build)(const BuildRequest&) = nullptr;
    Argv (*inspect)(std::string_view reference) = nullptr;  ///< JSON with Id, Size, Config.Labels
    Argv (*run)(const RunRequest&) = nullptr;
    Argv (*stop)(std::string_view container) = nullptr;
    Argv (*kill)(std::string_view container) = nullptr;
    Argv (*remove)(std::string_view container) = nullptr;
    /// "ID NAME" of each container with the label ("KEY" or "KEY=VALUE"), one a line.
    Argv (*list)(std::string_view label) = nullptr;
    Argv (*list_images)(std::string_view label) = nullptr;  ///< "ID REPOSITORY:TAG" of each such image
    Argv (*save)(std::string_view reference) = nullptr;     ///< a tar of the image on stdout
    Argv (*remove_image)(std::string_view reference) = nullptr;
    Argv (*storage)() = nullptr;  ///< the folder where its images lie, on stdout
    /// How it is confined, on stdout: `name=rootless` where it runs without root. Null: it tells nobody.
    Argv (*security)() = nullptr;
};

/// All rows, in the order in which `auto` tries them. The arguments that a row builds do not hold the program
/// itself.
[[nodiscard]] std::span<const Dialect> all_dialects();
[[nodiscard]] const Dialect* dialect_named(std::string_view name);

/// The first argument that no container run of ours may ever carry (--privileged, any mount, host namespaces
/// ...), or nullopt. Checked before every run, and over all rows by a test.
[[nodiscard]] std::optional<std::string> forbidden_argument(const Argv& argv);

}  // namespace cudamatrix::engine
