// The families: what an image is built on, and by which steps a cell becomes one.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "knowledge/facts/images.hpp"
#include "knowledge/facts/lookup.hpp"
#include "render/image/image.hpp"

namespace cudamatrix::family {

struct Family;

/// A cell on its way to an image: each step builds on what those before it found.
struct Request {
    const Matrix& matrix;
    const Cell& cell;
    const Facts& facts;
    const Family* family = nullptr;
    Image image;
    std::optional<lookup::Cuda> cuda;
    std::optional<lookup::Torch> torch;
    std::optional<Row> os;
    const Taken& taken;

    [[nodiscard]] std::string text(Field field) const;
};

/// Refuses the cell by giving a reason; empty: goes on.
using Step = std::string (*)(Request& request);

struct Family {
    std::string_view name;
    std::span<const std::string_view> flavours;  ///< the first is the default
    std::span<const std::string_view> archs;
    std::span<const Field> refused;  ///< fields that it does nothing for
    std::span<const Step> steps;
    bool distribution = false;  ///< built on a distribution alone, its toolkit installed
};

[[nodiscard]] std::span<const Family> all();
[[nodiscard]] const Family* named(std::string_view name);
inline constexpr std::string_view kDefault = "debian";

// Steps that families share.
[[nodiscard]] std::string find_toolkit(Request& request);      ///< the release that `cuda` means
[[nodiscard]] std::string find_torch(Request& request);        ///< the build that `torch` means, packages
[[nodiscard]] std::string find_torch_index(Request& request);  ///< where that build is installed from
[[nodiscard]] std::string find_compiler(Request& request);     ///< of the distribution's archive
/// Whether the cell names no compiler, or `os` has it: decides between distributions where it names none.
[[nodiscard]] bool has_compiler(const Request& request, const Row& os);
[[nodiscard]] std::string find_companions(Request& request);   ///< packages whose version is `auto` or `any`
[[nodiscard]] std::string find_constraints(Request& request);  ///< of packages that nobody wrote
/// The numpy that an image with torch gets where the cell says nothing of it; refuses nothing.
[[nodiscard]] std::string find_numpy(Request& request);
/// Refuses packages of which the facts know that no wheel is there for the image's python and machine.
[[nodiscard]] std::string find_wheels(Request& request);
[[nodiscard]] std::string find_environment(Request& request);

/// The distribution's own where it is the one that is asked for, or where none is and torch has a wheel for
/// it; else a standalone build.
[[nodiscard]] std::string find_python(Request& request);
/// Whether the distribution's own is that one: decides between distributions where a cell names none.
[[nodiscard]] bool python_serves(const Request& request, const Row& os);
/// Where wheels of a toolkit, or a standalone python, are fetched beside a registry's base.
[[nodiscard]] std::string installer_image(const Request& request);
/// What resolves and installs wheels.
[[nodiscard]] std::string find_installer(Request& request);

/// Where packages of the distribution come from: the mirror map, or a snapshot of its archive.
[[nodiscard]] std::string find_package_sources(Request& request);
/// Where wheels and standalone builds of python come from: the mirror map; refuses nothing.
[[nodiscard]] std::string find_indexes(Request& request);

// A family each; what is shared by some of them is below.
[[nodiscard]] std::span<const Step> distribution_steps();  ///< debian, ubuntu, rockylinux
[[nodiscard]] std::span<const Step> nvidia_cuda_steps();
[[nodiscard]] std::span<const Step> pytorch_steps();
[[nodiscard]] std::span<const Step> ngc_steps();
[[nodiscard]] std::span<const Step> cpu_steps();

/// The repository that the family is built on, with its registry: "docker.io/nvidia/cuda".
[[nodiscard]] std::string repository_of(const Facts& facts, std::string_view family);

/// Why an image whose cuDNN is `has` ("none", or empty: unknown) is not what the cell's cudnn asks for;
/// empty: it is, or the cell asks for none.
[[nodiscard]] std::string other_cudnn(const Request& request, std::string_view tag, std::string_view has);

/// What programs of that CUDA run on: the row of its major in cuda_runtimes.
[[nodiscard]] std::optional<Row> runtime_row(const Facts& facts, const Version& cuda);

/// The distribution's gcc, or the newest of its archive that the toolkit takes where that is older; 0 when
/// there is none, or no fact knows.
[[nodiscard]] int default_gcc(const Facts& facts, const std::optional<Row>& os,
                              const std::optional<lookup::Cuda>& cuda);

/// "3.11.2" -> "3.11", "3.13t" -> "3.13t".
[[nodiscard]] std::string minor_of(std::string_view python);

/// `values`: a column of a row, or the list of a family.
template <class Values>
[[nodiscard]] bool holds(const Values& values, std::string_view value) {
    return std::find(values.begin(), values.end(), value) != values.end();
}
[[nodiscard]] bool wants_python(const Request& request);

}  // namespace cudamatrix::family
