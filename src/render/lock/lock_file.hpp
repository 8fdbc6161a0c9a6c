// cudamatrix.lock: the exact packages, wheels and bases behind a render. Reading and writing only; what
// resolves them is in src/run. JSON, schema_version 1:
//   tool, facts, templates           what wrote it
//   bases.SUITE                      {sha256, command: [..], packages: ["NAME=VERSION"]}: a bootstrap tar
//   references."HOST/REPO:TAG"       {digest: "sha256:.."}: a base from a registry; the key is absent without
//   any images.ID                        {asked, index, apt: {LIST: ["NAME=VERSION"]},
//                                     wheels: {LIST: [{name, version, sha256, url}]},
//                                     held: {LIST: ["NAME"]}, sum}; the key url is absent where the index's
//                                     address for it would say nothing to others, held without any, sum (a
//                                     hash of all others of these) in locks of before
//   snapshots.ARCHIVE                    the time (20261101T000000Z) of the state of debian or ubuntu that
//                                     images take packages from where the matrix file leaves the choice
//                                     (snapshot: auto). The key is absent without any: the live archive
//   configurations."IMAGE"               {digest, as_of, arch: [..], cuda, requires, requires_aarch64}: what
//                                     the configuration of an image says that rules read, of bases and of
//                                     what cells name by `image`; of the last three those that it says. The
//                                     key is absent without any
//   verdicts                             ["CELL VERDICT RULE.."], sorted: what was said of each cell, and the
//                                     rules that decided it; a list, for objects of 100,000 members read
//                                     slowly. The key is absent in locks of before
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "knowledge/facts/facts.hpp"
#include "render/image/image.hpp"
#include "render/image/resolve_cell.hpp"

namespace cudamatrix {

inline constexpr std::string_view kLockFile = "cudamatrix.lock";  ///< lies beside the matrix file
inline constexpr int kLockSchema = 1;

struct AptPin {
    std::string package;
    std::string version;
    friend bool operator==(const AptPin&, const AptPin&) = default;
};

struct WheelPin {
    std::string name;  ///< normalised: nvidia-cuda-nvcc
    std::string version;
    std::string sha256;
    /// Where the index had it that day, for who fills a mirror; builds ask for name, version and sha256.
    std::string url = {};
    friend bool operator==(const WheelPin&, const WheelPin&) = default;
};

/// A bootstrap tar as it was made.
struct BasePins {
    std::string sha256;                ///< of the tar
    std::vector<std::string> command;  ///< Bootstrap::command
    std::vector<AptPin> packages;      ///< what it holds
    friend bool operator==(const BasePins&, const BasePins&) = default;
};

/// A base that a registry has, by the digest that its tag had.
struct RegistryBase {
    std::string digest;  ///< "sha256:..." of the index of a multi-architecture image, else of its manifest
    friend bool operator==(const RegistryBase&, const RegistryBase&) = default;
};

/// What the configuration of an image says, in the columns of other_images and nothing else of it: variables
/// and labels may hold secrets.
struct ImageConfiguration {
    std::string digest;               ///< of what was read: of the index of a multi-architecture image
    std::string as_of;                ///< YYYY-MM-DD: the day on which that was
    std::vector<std::string> arches;  ///< x86_64, aarch64
    std::string cuda = {};            ///< empty: it names none
    std::string condition = {};       ///< what it requires of the host; empty: nothing
    /// What it requires on aarch64, where that is something else, or "none"; else empty.
    std::string condition_aarch64 = {};
    friend bool operator==(const ImageConfiguration&, const ImageConfiguration&) = default;
};

/// What an image is made of.
struct ImagePins {
    std::string asked;  ///< what was resolved (asked_of): pins of another question do not count
    std::string index;  ///< where torch came from: "default" or the variant of the index; empty: no wheels
    std::vector<AptPin> devel;        ///< installed in the stage that compiles, with their dependencies
    std::vector<AptPin> toolkit;      ///< unpacked there
    std::vector<AptPin> python;       ///< installed in the stage that fetches a wheel toolkit
    std::vector<AptPin> runtime;      ///< installed in what users ship
    std::vector<WheelPin> cuda;       ///< wheels of the toolkit
    std::vector<WheelPin> wheels;     ///< wheels of the image
    std::vector<WheelPin> installer;  ///< what installs those, in the build only
    /// What is asked for and in none of them, for a registry's base holds it: names by the name of the list.
    /// What a bootstrapped base holds is in BasePins.
    std::map<std::string, std::vector<std::string>, std::less<>> held = {};
    /// What `lock` wrote of all that: a pin that is gone or another makes it wrong (was_edited). Empty: they
    /// were resolved now, or a lock of before has none.
    std::string sum = {};
    friend bool operator==(const ImagePins&, const ImagePins&) = default;
};

/// What `check` said of a cell when the lock was written.
struct RecordedVerdict {
    std::string verdict;             ///< one of kVerdictWords
    std::vector<std::string> rules;  ///< that decided it, sorted; none where it is accepted
    friend bool operator==(const RecordedVerdict&, const RecordedVerdict&) = default;
};
using RecordedVerdicts = std::map<std::string, RecordedVerdict, std::less<>>;  ///< by the cell's id

inline constexpr std::string_view kVerdictWords[] = {"accepted", "degraded", "unknown", "rejected"};
inline constexpr std::size_t kMostVerdicts = 100'000;  ///< as many cells as a judgement lists
inline constexpr std::size_t kMostConfigurations = 2 * kMostVerdicts;

struct Lock {
    std::string tool;                                    ///< version of the program that wrote it
    std::string facts;                                   ///< Facts::hash() then
    std::string templates;                               ///< hash of the templates then
    std::map<std::string, BasePins, std::less<>> bases;  ///< by suite: bookworm
    /// By the canonical reference that an image names ("docker.io/nvidia/cuda:12.4.1-base-ubuntu22.04"),
    /// whatever mirror it is pulled through.
    std::map<std::string, RegistryBase, std::less<>> references;
    std::map<std::string, ImagePins, std::less<>> images;  ///< by Image::id
    std::optional<RecordedVerdicts> verdicts = {};         ///< nullopt: of a lock of before
    /// By the canonical reference with a tag or a digest, not with both.
    std::map<std::string, ImageConfiguration, std::less<>> configurations = {};
    TakenSnapshots snapshots = {};
    friend bool operator==(const Lock&, const Lock&) = default;

    [[nodiscard]] const BasePins* base(const Image& image) const;
    /// The digest of a reference, nullptr without one.
    [[nodiscard]] const RegistryBase* registry_base(std::string_view reference) const;
    /// What is recorded of a reference, nullptr without it.
    [[nodiscard]] const ImageConfiguration* configuration(std::string_view reference) const;
    /// The pins of `image`, or nullptr when there are none for what it asks now.
    [[nodiscard]] const ImagePins* pins(const Image& image) const;
    /// The same, where it covers the image; else nullptr.
    [[nodiscard]] const ImagePins* covering(const Image& image) const;
    /// Its pins and its base are there, of every base from a registry the digest, and a pin of all that it
    /// asks for by name (missing_pins): nothing of the image reads `unpinned`.
    [[nodiscard]] bool covers(const Image& image) const;
};

/// Everything about an image that its pins depend on, as a hash.
[[nodiscard]] std::string asked_of(const Image& image);

/// Whether the pins are others than `lock` wrote; false where nothing says so.
[[nodiscard]] bool was_edited(const ImagePins& pins);

/// What the lock lacks for `image`, in words that follow "it has": "no pin of libcudart11.0 (list runtime)".
/// Empty: it covers the image.
[[nodiscard]] std::vector<std::string> missing_pins(const Image& image, const Lock& lock);

/// What an image asks for and a list of its pins lacks: packages, and requirements of wheels.
struct PinGap {
    std::string_view list;  ///< one of kAptLists and kWheelLists
    std::vector<std::string> names;
};
[[nodiscard]] std::vector<PinGap> gaps_in(const ImagePins& pins, const Image& image, const Lock& lock);

/// Of `wanted` what is neither in `pins` nor in `base`.
[[nodiscard]] std::vector<std::string> unpinned_packages(const std::vector<std::string>& wanted,
                                                         const std::vector<AptPin>& pins,
                                                         const std::vector<AptPin>& base);
/// Of the requirements ("torch==2.6.0") those that no pin answers by name and version.
[[nodiscard]] std::vector<std::string> unpinned_wheels(const std::vector<std::string>& wanted,
                                                       const std::vector<WheelPin>& pins);
/// "Torch==2.6.0" asks for torch; a package is its own name.
[[nodiscard]] std::string name_of_request(std::string_view request);

/// What images are built on in place of a bootstrapped base, the bases whose digest the lock has, and the
/// states of archives that it has taken.
[[nodiscard]] Taken taken_by(const std::optional<Lock>& lock);

/// How a lock names an image in `configurations`: a tag that is not written is latest, beside a digest none
/// counts. Nothing for what is no reference.
[[nodiscard]] std::optional<std::string> name_in_lock(std::string_view reference);

/// The facts with the configurations of the lock as rows of other_images: of the very image that was locked
/// they say more than a table does of its release. What a folder of facts says of it comes before them.
[[nodiscard]] Facts with_configurations(const Facts& facts, const Lock& lock);

/// The lock in `path`; nullopt when there is no such file. A malformed one, one of another schema_version and
/// values that could not stand in a Dockerfile are input failures.
[[nodiscard]] Result<std::optional<Lock>> read_lock(const std::filesystem::path& path);
[[nodiscard]] Result<Lock> parse_lock(std::string_view text, std::string_view name);

/// The same lock gives the same bytes.
[[nodiscard]] std::string lock_text(const Lock& lock);
/// Replaces `path` atomically; false when it held the same already.
[[nodiscard]] Result<bool> write_lock(const std::filesystem::path& path, const Lock& lock);

/// One line for each pin that differs: "debian12-cu11.8.0: g++-11 11.3.0-11 -> 11.3.0-12", sorted. A digest
/// is whole: "docker.io/nvidia/cuda:12.4.1-base-ubuntu22.04: digest sha256:... -> sha256:...".
[[nodiscard]] std::vector<std::string> lock_changes(const Lock& before, const Lock& after);

// The lists of pins of an image, their names in a lock file, and what they answer.

template <class Pin>
struct PinList {
    std::string_view name;
    std::vector<Pin> ImagePins::*member;
    std::vector<std::string> PackageRequests::*wanted;
};
inline constexpr PinList<AptPin> kAptLists[] = {{"devel", &ImagePins::devel, &PackageRequests::devel},
                                                {"toolkit", &ImagePins::toolkit, &PackageRequests::toolkit},
                                                {"python", &ImagePins::python, &PackageRequests::python},
                                                {"runtime", &ImagePins::runtime, &PackageRequests::runtime}};
inline constexpr PinList<WheelPin> kWheelLists[] = {
    {"cuda", &ImagePins::cuda, &PackageRequests::cuda},
    {"image", &ImagePins::wheels, &PackageRequests::wheels},
    {"installer", &ImagePins::installer, &PackageRequests::installer}};

}  // namespace cudamatrix
