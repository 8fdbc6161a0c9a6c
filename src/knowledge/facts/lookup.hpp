// Typed look-ups: from what a user wrote to the rows that know about it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/image_reference.hpp"
#include "base/version.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/facts/pep440.hpp"
#include "matrix/spelling.hpp"

namespace cudamatrix {

/// A release of a package and the row of package_releases that describes it.
struct PackageRelease {
    std::string_view text;  ///< the version as the row writes it
    pep440::Version version;
    Row row;
};

}  // namespace cudamatrix

namespace cudamatrix::lookup {

/// The version in a column whose schema says that every row has one there: the self-check lets no others in.
[[nodiscard]] Version required_version(const Row& row, std::string_view column);

/// `12.6` -> its newest known release; `12.4.1` -> itself when known.
struct Cuda {
    Version exact;               ///< 12.4.1
    std::optional<Row> toolkit;  ///< row of cuda_toolkits (the minor: targets, PTX ISA, host compilers)
    std::optional<Row> release;  ///< row of cuda_releases
};
[[nodiscard]] std::optional<Cuda> cuda(const Facts& facts, std::string_view text);

/// `550` or `R550` -> its newest known release; `550.54.15` -> itself, in the branch of its first component.
struct Driver {
    Version exact;
    bool bare_branch = false;   ///< the user named a branch only
    std::optional<Row> branch;  ///< row of driver_branches
};
[[nodiscard]] std::optional<Driver> driver(const Facts& facts, std::string_view text);

/// Whether a platform is WSL2, the one that rules know. All others are free text, for the user's own
/// conditions.
[[nodiscard]] bool is_wsl(std::string_view platform);

/// By canonical name or alias, case, blanks and hyphens ignored, never by substring.
[[nodiscard]] std::optional<Row> gpu(const Facts& facts, std::string_view name);
/// The spellings that only facts know: "jammy" and "ubuntu-22.04" are ubuntu22.04, "rtx5090" is the RTX 5090
/// that its row names. Nothing for a text that could mean several.
[[nodiscard]] Spelling names_in(const Facts& facts);
/// Those and the ones that need no facts.
[[nodiscard]] Spelling spellings(const Facts& facts);

/// All names and aliases of GPUs, for "did you mean".
[[nodiscard]] std::vector<std::string> gpu_names(const Facts& facts);

/// `2.6.0+cu124`, `2.6.0` (the index default), `2.6` (its newest release that was not yanked). `arch` is
/// x86_64 or aarch64.
struct Torch {
    Version exact;                ///< 2.6.0, without the variant
    std::string variant;          ///< cu124, cpu; empty when unknown
    bool index_default = false;   ///< this build is what the Python index serves without a variant
    std::optional<Row> release;   ///< row of torch_releases
    std::optional<Row> wheel;     ///< row of torch_wheels for (release, variant, arch)
    std::optional<Row> absent{};  ///< without one: the row of absent_torch_builds
};
[[nodiscard]] std::optional<Torch> torch(const Facts& facts, std::string_view text, std::string_view arch);

[[nodiscard]] std::optional<Row> os(const Facts& facts, std::string_view slug);
[[nodiscard]] std::optional<Row> python(const Facts& facts, std::string_view text);

/// The row is about several releases: its source is a wheel of one of them.
[[nodiscard]] bool is_shared(const Row& release);
/// The row of package_releases of the release that is written so.
[[nodiscard]] std::optional<Row> package_release(const Facts& facts, std::string_view package,
                                                 std::string_view version);

/// Whether a row of wheels is about those for a system (linux, musl, windows, macos): one that names no
/// `systems` is about all.
[[nodiscard]] bool is_about_system(const Row& row, std::string_view system);

/// Whether the author of a release (a row of package_releases) took it back (PEP 592): an index keeps it for
/// those who pinned exactly it, and everybody else gets another. So does who asks for one that the index
/// never had.
[[nodiscard]] bool is_yanked(const Row& release);
/// The same of a build of torch (a row of torch_wheels): of the release that it is a build of.
[[nodiscard]] bool is_yanked_build(const Facts& facts, const Row& wheel);

/// The row of toolkit_sources that supplies `cuda` (exact) on `os` in `family`; `from` empty: the archive
/// before wheels.
[[nodiscard]] std::optional<Row> toolkit_source(const Facts& facts, std::string_view family,
                                                std::string_view os, const Version& cuda,
                                                std::string_view from);

/// The row of cuda_libraries for `cuda` (exact) as `from` (archive, wheels) supplies it on `os`.
[[nodiscard]] std::optional<Row> cuda_libraries(const Facts& facts, const Version& cuda,
                                                std::string_view from, std::string_view os);

/// Where a site has the source `name` of package_archives: by its name in the map, or by a prefix of its
/// address; empty: the map says nothing of it.
[[nodiscard]] std::string mirror_of_source(const Facts& facts, const Mirrors& mirrors, std::string_view name);

/// Where the mirror map says that the wheels of one variant of torch (cu124, cpu) are; empty: nothing.
[[nodiscard]] std::string mirror_of_torch_index(const Facts& facts, const Mirrors& mirrors,
                                                std::string_view variant);

// What goes with a torch: its domain libraries, and the numpy that it was made for.

/// A row of torch_companions and a torch: the release demands exactly it, it or a newer one, or was built for
/// it.
[[nodiscard]] bool goes_with_torch(const Row& companion, const Version& torch);

/// The newest release of `package` (torchvision ..) that goes with `torch`; one that demands it exactly
/// before one that does not, and one that was yanked only where there is no other.
[[nodiscard]] std::optional<Row> torch_companion(const Facts& facts, std::string_view package,
                                                 const Version& torch);

/// The newest numpy that has wheels for the python ("3.11") and that `torch` can work with; one that was
/// yanked only where there is no other.
[[nodiscard]] std::optional<PackageRelease> numpy_companion(const Facts& facts, std::string_view python,
                                                            const Version& torch);

}  // namespace cudamatrix::lookup
