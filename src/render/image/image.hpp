// From cells to images: cells that differ only in what an image does not contain (driver, gpu, compute) share
// one.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "knowledge/facts/facts.hpp"
#include "matrix/deployment/services.hpp"
#include "matrix/field.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix {

/// A cell that shall get an image, with its id.
struct PlannedCell {
    Cell cell;
    std::string id;
};

/// Where the packages of a distribution are asked for; empty: where its base asks by itself.
struct PackageSources {
    std::string archive;   ///< http://archive.ubuntu.com/ubuntu, from the mirror map or of a snapshot
    std::string security;  ///< of security updates, where the distribution keeps them apart
    std::string snapshot;  ///< 20261101T000000Z: the state of both; empty: today's
};

/// Where a site has what pip and uv ask for; empty: they ask where they do by themselves.
struct Indexes {
    std::string python;  ///< the Python index: https://wheels.example.org/simple
    std::string nvidia;  ///< NVIDIA's own
    std::string builds;  ///< standalone builds of python
};

/// Official images of distributions that images are built on where `build: {base_from: auto}` leaves the
/// choice: those whose digest the lock has. All others are bootstrapped.
using TakenBases = std::set<std::string, std::less<>>;

/// By archive (debian, ubuntu) the time of its state that images get where `build: {snapshot: auto}` leaves
/// the choice. Of all others they get the state of the day.
using TakenSnapshots = std::map<std::string, std::string, std::less<>>;

/// What the lock has decided where the matrix file says auto.
struct Taken {
    TakenBases bases;
    TakenSnapshots snapshots;
};

struct Image {
    std::string id;                  ///< folder, tag and compose service: "debian12-cu11.8.0"
    std::vector<std::string> cells;  ///< ids of the cells that it serves, in the order of the file
    std::string family;              ///< debian, ubuntu, rockylinux, nvidia-cuda, pytorch, ngc, cpu
    std::string os;                  ///< debian12
    std::string base_reference;   ///< docker.io/nvidia/cuda:12.4.1-runtime-ubuntu22.04; empty: bootstrapped
    std::string devel_reference;  ///< what compiles the suite where the base has no compiler: the devel tag
    std::string installer_reference;  ///< python slim: fetches a standalone python, a wheel toolkit; or empty
    std::string package_manager;      ///< apt or dnf
    PackageSources sources;           ///< of those packages
    Indexes indexes;                  ///< of wheels
    std::string suite;                ///< bookworm; empty where a registry has the base
    std::string flavour;              ///< base, runtime or devel
    std::string arch;                 ///< x86_64
    std::string cuda;                 ///< exact toolkit release, empty: none
    std::string cudart;               ///< soname of its runtime library; empty: no fact says which
    std::string wheel_root;           ///< where its wheels put it below site-packages; empty: none do
    /// The toolkit that compiles the suite: `cuda`, or, where the image holds none, one of its torch's major
    /// that only the build has. Empty: nothing compiles kernels. The rest of cuda_* is about this one.
    std::string suite_cuda;
    std::string cuda_source;                 ///< id of the row of toolkit_sources, empty: no toolkit
    std::string cuda_from;                   ///< archive, wheels or base, empty: no toolkit
    std::vector<std::string> cuda_unpack;    ///< archive: packages that are unpacked to compile kernels
    std::vector<std::string> cuda_packages;  ///< archive: packages that the whole toolkit is installed with
    std::vector<std::string> cuda_runtime;   ///< archive: packages that programs need to run
    std::vector<std::string> cuda_pins;      ///< wheels: requirements, every component of one release
    /// What the flavour runtime adds to these: packages of the archive, or requirements.
    std::vector<std::string> cuda_libraries;
    std::string compiler;             ///< g++-11: host compiler of nvcc and of the suite
    std::string torch;                ///< exact release, empty: none
    std::string torch_variant;        ///< cu124, cpu
    std::string torch_cuda;           ///< 12.4; "None", as torch says it, for a build without CUDA
    bool torch_from_base = false;     ///< the base brings it: nothing installs it
    bool torch_index_default = true;  ///< installed bare from the default index
    std::string torch_index;          ///< else: URL of its variant's index, through the mirror map
    std::string python;               ///< minor of its python, empty: none, or whichever the base has
    std::string python_from;          ///< distribution, base or standalone; empty: the image gets none
    std::string python_release;       ///< standalone: 3.12.16
    std::string installer;            ///< requirement of what installs wheels: uv==0.13.8
    std::string resolver;             ///< ... of what `lock` resolves them with: pip>=24.0,<=25.3
    std::vector<std::pair<std::string, std::string>>
        packages;                         ///< wheels besides torch, each at an exact version
    std::vector<std::string> companions;  ///< of those, what the facts chose for auto and any: a line each
    std::string
        numpy;  ///< what the facts chose beside torch, where the cell says nothing of it; no part of the id
    bool refuses_numpy = false;  ///< the cell does: `packages: {numpy: none}`
    /// What the facts keep out of the dependencies that `lock` finds: "numpy<2".
    std::vector<std::string> constraints;
    std::vector<std::pair<std::string, std::string>> env;  ///< variables of the cell that images carry
    std::vector<std::string> env_left_out;  ///< names of those that are judged only; no content of the image
    std::vector<std::string> compute;       ///< SASS targets of the suite, sorted
    std::string ptx;                        ///< the highest: also embedded as PTX; empty without a toolkit
    unsigned shm_gb =
        0;  ///< the most /dev/shm that one of its cells asks for; 0: none does. No content of the image
    std::string entry;             ///< name of its entry of images; empty: the matrix file has none
    std::vector<std::string> apt;  ///< packages that the entry adds
    std::vector<Copy> copy;        ///< what the entry copies; lies in the context below kCopyFolder
    Healthcheck healthcheck;       ///< of the entry, or else what its torch or its CUDA is asked
    /// Under `build: {snapshot: auto}` the archives whose earlier state it can be given, all or none of them;
    /// TakenSnapshots names the first. Empty: no service has them, or its base cannot ask that one.
    std::vector<std::string> snapshot_archives;
    /// Where services mount named volumes: the image's user must be able to write there.
    std::vector<std::string> folders;

    /// Whether a GPU serves it: it holds a toolkit, or a torch with CUDA.
    [[nodiscard]] bool holds_cuda() const;
    /// Whether `suite_cuda` is a toolkit that the image itself does not get.
    [[nodiscard]] bool compiles_beside() const;
    /// The bases that a registry has, in canonical form ("docker.io/nvidia/cuda:TAG"), without doubles: each
    /// is pinned by digest. None for an image whose base is bootstrapped.
    [[nodiscard]] std::vector<std::string> references() const;
    /// As engines and registries name what it runs on: linux/amd64, linux/arm64.
    [[nodiscard]] std::string platform() const;
    /// What the bootstrapped base is called, in the lock and in messages: bookworm, bookworm-arm64.
    [[nodiscard]] std::string base_name() const;
};

/// Where the earlier states of an archive (debian) lie, through the mirror map: what stands before "/TIME".
/// Empty: no service is known.
[[nodiscard]] std::string snapshot_service(const Facts& facts, const Mirrors& mirrors,
                                           std::string_view archive);

/// What `reference` is pulled as: the longest prefix of it that is a key of `mirrors` ("docker.io",
/// "docker.io/nvidia") is replaced by its value.
[[nodiscard]] std::string pulled_reference(std::string_view reference, const Mirrors& mirrors);

/// The folder of an image's context that holds what images: copies, under the names that it has beside the
/// matrix file.
inline constexpr std::string_view kCopyFolder = "copy";

/// The bootstrap tar of a distribution suite: shared by all images on it.
struct Bootstrap {
    std::string base;  ///< see Image::base_name
    std::vector<std::string>
        command;  ///< argv that makes it, with {output} for the tar's path, {ca_bundle} and {netrc}
    std::vector<std::pair<std::string, std::string>>
        environment;             ///< to be set for it, so that two runs give the same bytes
    std::string file;            ///< "bootstrap-bookworm.tar", in an image's folder as well
    std::string ca_bundle = {};  ///< what {ca_bundle} stands for: a path of this machine, never recorded
    std::string netrc = {};      ///< ... and {netrc}
};

/// How the base of `image` is made: from its sources, with the CA bundle of the matrix file where one of them
/// needs it; no trace of the bundle stays in the tar.
[[nodiscard]] Bootstrap bootstrap_of(const Image& image, const Matrix& matrix);

// What of a cell its image depends on.

/// The fields that decide what an image holds: two cells that agree on them share one.
[[nodiscard]] FieldSet image_fields();

}  // namespace cudamatrix
