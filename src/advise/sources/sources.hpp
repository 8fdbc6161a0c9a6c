// What Dockerfiles, compose files, requirements, lock files and conda files say, with places. No facts: a
// version is the text that is written. Nothing here fails: what cannot be read is listed with the reason.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/diagnostic.hpp"

namespace cudamatrix::sources {

/// Stands in a text for what nobody knows before the build: a variable without a value, the output of a
/// program.
inline constexpr char kOpen = '\x01';
[[nodiscard]] inline bool is_open(std::string_view text) {
    return text.find(kOpen) != std::string_view::npos;
}

/// A word of a command or an instruction, its variables replaced.
struct Word {
    std::string text;
    Location where = {};
    bool quoted = false;

    [[nodiscard]] bool is_open() const { return sources::is_open(text); }
};

/// One requirement as pip reads it (PEP 508): "torch[opt]>=2.0; python_version<'3.12'".
struct Requirement {
    std::string name;       ///< canonical (PEP 503)
    std::string specifier;  ///< ">=2.0,<3"; empty: any release
    std::string url;        ///< of a direct reference: the wheel or archive
    std::string marker;     ///< empty: always
    Location where = {};
};

enum class IndexKind { index, extra, find_links };
/// An index, or a page of links, that an install names.
struct Index {
    IndexKind kind = IndexKind::index;
    std::string url;
    Location where = {};
};

// What an image, an environment or a lock file gets, in the order of the file.

struct PipInstall {
    std::string tool = "pip";  ///< pip, uv, poetry
    std::string python = {};   ///< the command names it: "3.11" of python3.11 -m pip
    std::vector<Requirement> requirements = {};
    std::vector<Index> indexes = {};
    std::vector<Word> files = {};     ///< -r: requirements in other files
    bool locked = false;              ///< all versions are a lock's
    bool breaks_system = false;       ///< --break-system-packages, --user, --target
    bool upgrades = false;            ///< --upgrade
    std::string index_strategy = {};  ///< of uv; empty: not said
    Location where = {};
};
struct PipUninstall {
    std::vector<std::string> names;  ///< canonical
};
struct CondaInstall {
    struct Spec {
        std::string name, version, build,
            channel;  ///< pytorch, 2.1.0 or >=2.0, py3.10_cuda12.1_*, conda-forge
        Location where = {};
    };
    std::vector<Spec> specs;
    std::vector<std::string> channels;
    Location where = {};
};
/// Packages of apt or dnf: "cuda-toolkit-12-3", "libcudnn8=8.9.7.29-1+cuda12.2".
struct SystemInstall {
    std::vector<Word> packages;
};
/// ENV, ARG that a build sees, or export.
struct Variable {
    std::string name;
    Word value;
};
/// From here on `command` (python, python3, pip) is that of a python: a link, an alternative, a virtual
/// environment.
struct PythonChoice {
    std::string command;  ///< python, python3; venv: all of them
    std::string version;  ///< 3.11
    Location where = {};
};
/// GPUs that a compiler is told to compile for: "sm_90", "compute_75", in the words of nvcc or CMake.
struct Gencode {
    std::vector<std::string> entries;  ///< 7.5, 9.0a, 9.0+PTX
    Location where = {};
};
struct CopyFrom {
    std::string stage;  ///< or an image
    std::vector<std::string> paths;
    Location where = {};
};
/// COPY from the context: where files of the folder come to lie.
struct CopyIn {
    std::vector<std::string> from;
    std::string to;
};
/// The mark of PEP 668 is removed: pip may write into the python of the distribution.
struct Unmanaged {};
/// CMD or ENTRYPOINT.
struct Start {
    std::vector<Word> words;
};
/// `pip install torch>=2.3` without quotes: the shell took a part for the name of a file.
struct Redirected {
    Word requirement;  ///< "torch"
    std::string rest;  ///< ">=2.3"
};

using Step = std::variant<PipInstall, PipUninstall, CondaInstall, SystemInstall, Variable, PythonChoice,
                          Gencode, CopyFrom, CopyIn, Start, Redirected, Unmanaged>;

/// Something that was not judged, and why.
struct Skipped {
    Location where;
    std::string what;  ///< "torch"; "FROM"
    std::string why;   ///< "TORCH_VERSION has no value before the build"
};

struct Stage {
    std::string name;               ///< of AS; empty: none
    Word base;                      ///< the image; empty text: none (requirements), scratch
    std::optional<std::size_t> on;  ///< the earlier stage that it is built on
    std::string arch;               ///< of --platform: x86_64, aarch64; empty: not said
    std::vector<Step> steps;
    Location where = {};
};

enum class Kind { dockerfile, compose, requirements, conda_environment, pyproject, uv_lock, poetry_lock };
[[nodiscard]] std::string_view to_string(Kind kind);

/// A service of a compose file that is built from a Dockerfile.
struct Build {
    std::string dockerfile;  ///< relative to the compose file
    std::string context;
    std::string target;
    std::map<std::string, std::string> arguments;
    std::vector<Step> steps = {};  ///< what the service adds: its variables
    Location where = {};
};

struct Source {
    std::string path;
    std::string text;
    Kind kind = Kind::dockerfile;
    std::vector<Stage> stages;  ///< of a Dockerfile; else one for each image or environment
    std::vector<Build> builds;  ///< of a compose file
    std::vector<Skipped> skipped;
};

struct ReadOptions {
    std::map<std::string, std::string> arguments;  ///< --build-arg
    std::string arch = "x86_64";                   ///< of the machine that images are built for
};

/// The kind of a file by its name, and where that leaves it open by its text; nothing for another file.
[[nodiscard]] std::optional<Kind> kind_of(std::string_view path, std::string_view text);
/// The kinds that names tell, without a look inside: for folders.
[[nodiscard]] std::optional<Kind> kind_by_name(std::string_view path);

[[nodiscard]] Source read(Kind kind, std::string path, std::string text, const ReadOptions& options);

}  // namespace cudamatrix::sources
