// What a cell's words mean: resolved by facts, or said to be unknown with the nearest thing that is known.
// Shared by rules.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fatbin/arch.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/resolve/context.hpp"

namespace cudamatrix::rules {

/// A well-formed value that no fact knows, or of which a fact says that there never was such a thing.
struct Unresolved {
    Field field = Field::driver;
    std::string what;  ///< "no fact knows gpu RTX 9090 (did you mean RTX 3090?)"
    std::vector<FixOption> near;
    std::optional<FactRef> never = std::nullopt;  ///< the fact that says so: no gap, the value is wrong
};

template <class T>
using Resolved = std::variant<T, Unresolved>;

/// For a rule that leaves it to others to say what is unknown.
template <class T>
[[nodiscard]] std::optional<T> if_known(Resolved<T> resolved) {
    auto* value = std::get_if<T>(&resolved);
    return value == nullptr ? std::nullopt : std::optional<T>(std::move(*value));
}

/// The GPU that a cell runs on: from `compute` where it is given, else from `gpu`.
struct Device {
    Field field = Field::gpu;
    fatbin::Arch arch;    ///< with the a or f of a compute that has one
    std::string compute;  ///< "8.9", without a or f
    std::string text;     ///< "RTX 4090 (compute 8.9)", "compute 8.9"
    std::optional<Row> gpu;
    Row architecture;
    std::vector<FactRef> facts;
};
[[nodiscard]] Resolved<Device> device(const Context& context);
/// The same where it stands, for those who ask for every cell: in the memo, else in `own`. nullptr: no fact
/// knows it.
[[nodiscard]] const Device* known_device(const Context& context, Resolved<Device>& own);

/// The processor of every host that a GPU is sold in, where that is one only: an Arm one beside a Grace, on a
/// Jetson. Empty for all others, which are plugged into any host. A rule that reads the arch is asked with it
/// where the cell does not say one.
[[nodiscard]] std::string_view host_arch(const Facts& facts, std::string_view gpu);

[[nodiscard]] Resolved<lookup::Driver> driver(const Context& context);
[[nodiscard]] Resolved<lookup::Cuda> image_cuda(const Context& context);

/// The build of torch that a cell installs.
struct TorchBuild {
    lookup::Torch torch;
    std::string text;  ///< "torch 2.6.0+cu124"
    std::string arch;  ///< as the cell says, or its GPU where that is in hosts of one kind only; else x86_64
    /// Where no row describes the build: the newest older release, or else the oldest newer one, that has one
    /// for its CUDA and arch; without any, that release's newest build.
    std::optional<Row> nearest;
};
struct Unpinned;

/// What the words of cells meant so far: a matrix says the same few words in every projection. For one thread
/// and one Facts.
class Memo {
  public:
    template <class T>
    using Known = std::map<std::string, Resolved<T>, std::less<>>;

    Known<Device> devices;
    Known<lookup::Driver> drivers;
    Known<lookup::Cuda> cudas;
    Known<TorchBuild> builds;
    std::map<std::string, std::shared_ptr<const std::vector<Unpinned>>, std::less<>> unpinned;
    std::map<std::string, bool, std::less<>> sources;  ///< whether a release comes to a source (source_only)
    std::map<std::string, Findings, std::less<>> answers;  ///< of Ask::once_per
};

/// Whether the cell wants torch at all (`none` is an answer, not a gap).
[[nodiscard]] bool wants_torch(const Context& context);
/// Whether that torch is a wheel of an index: the images of NVIDIA's own, which family ngc is built on, bring
/// a build that no index has (image_torch). Reads image and family.
[[nodiscard]] bool wants_wheel(const Context& context);
/// Known release and variant; the wheel's row may be absent (`never_published`, or a gap in the facts).
[[nodiscard]] Resolved<TorchBuild> torch_build(const Context& context);
/// The default index has no wheel of the release for the arch, and the cell names no other index:
/// torch-published-for-arch rejects it.
[[nodiscard]] bool no_wheels_for_arch(const TorchBuild& build);
/// That, or torch-built-for-cuda rejects it: the list of the release's variants is whole and does not have
/// this one, or its index was looked at and does not. Other rules have nothing to look at.
[[nodiscard]] bool never_published(const TorchBuild& build);
/// For a build that may exist and that no row describes: with the nearest that one does.
[[nodiscard]] Unresolved no_wheel_row(const TorchBuild& build);

/// Driver branch bounds of the CUDA that a driver runs natively: equal when the branch's row says it, else
/// from the neighbouring branches (a newer branch never runs less).
struct NativeCuda {
    std::optional<Version> at_least;
    std::optional<Version> at_most;
};
[[nodiscard]] NativeCuda native_cuda(const Facts& facts, const lookup::Driver& driver);

/// "driver 550.54.15"; a bare branch says which release it stands for.
[[nodiscard]] std::string driver_text(const lookup::Driver& driver);

/// `value` as a fix of one field: the text is "FIELD VALUE".
[[nodiscard]] FixOption set_to(Field field, std::string_view value);
/// The same with words of its own.
[[nodiscard]] FixOption set_to(Field field, std::string_view value, std::string text);

/// The row with `id` as a reference; nothing when the facts lack it.
void cite(std::vector<FactRef>& facts, const Facts& from, std::string_view id);

/// "no fact knows os ubuntu26.10 (did you mean ubuntu26.04?)".
[[nodiscard]] Unresolved unknown_name(Field field, std::string_view text,
                                      const std::vector<std::string>& names);
/// An operating system that no fact knows.
[[nodiscard]] Unresolved unknown_os(const Facts& facts, std::string_view text);
/// A python that no fact knows.
[[nodiscard]] Unresolved unknown_python(const Facts& facts, std::string_view text);

/// "3.10, 3.11, 3.12".
[[nodiscard]] std::string listed(std::span<const std::string_view> values);
[[nodiscard]] std::string listed(const facts::Values& values);
[[nodiscard]] bool contains(std::span<const std::string_view> values, std::string_view value);

// Which code of a file runs on a GPU, by the lists that rows of facts write. Shared by rules.

/// The lowest and the highest plain target of a toolkit's nvcc (a row of cuda_toolkits).
struct TargetRange {
    std::optional<fatbin::Arch> lowest, highest;
};
[[nodiscard]] TargetRange target_range(const Row& toolkit);

/// What devices are compared by: a device has no variant, and the a or f of a `compute` asks for code.
[[nodiscard]] fatbin::Arch device_arch(fatbin::Arch arch);

/// Does the device run machine code for one of these capabilities ("8.6")?
[[nodiscard]] bool has_sass(facts::Values compute, const fatbin::Arch& device);
/// The first capability whose PTX a driver compiles for the device.
[[nodiscard]] std::optional<std::string_view> ptx_for(facts::Values compute, const fatbin::Arch& device);
/// Does the row serve the device by the machine code in column `sass`, or by its `ptx`?
[[nodiscard]] bool has_code(const Row& row, std::string_view sass, const fatbin::Arch& device);

}  // namespace cudamatrix::rules
