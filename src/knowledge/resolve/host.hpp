// The host as the rules about running see it. Its driver: Linux and Windows count differently, a Tegra's
// driver counts in neither, and libraries of a newer driver inside the image (cuda_compat) may stand in for
// it, as far as the hardware and the container toolkit let them. And the flavours of its kernel module.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/resolve/resolve.hpp"

namespace cudamatrix::rules {

/// Whether the driver is the one of Windows: on Windows itself, and under WSL2.
[[nodiscard]] bool windows_driver(const Context& context);

/// The cell's driver. Numbers of the Windows driver are taken as they stand, in the branch that they count in
/// (551.61 in 550); a bare number there stays bare, because no fact lists the releases.
[[nodiscard]] Resolved<lookup::Driver> host_driver(const Context& context);
/// "driver 550.54.15", "Windows driver 551.61".
[[nodiscard]] std::string host_driver_text(const Context& context, const lookup::Driver& driver);

/// What is named as an integrated GPU (Jetson, Drive), whose driver follows no branch: by its architecture
/// or by its class; nothing for all others and for what no fact knows.
struct Integrated {
    Field field = Field::gpu;
    std::string text;  ///< "Jetson AGX Orin (compute 8.7)", "host class jetson"
    std::vector<FactRef> facts;
};
[[nodiscard]] std::optional<Integrated> integrated_gpu(const Context& context);
/// "no branch of the desktop and server driver applies to Jetson AGX Orin (compute 8.7)".
[[nodiscard]] Unresolved outside_branches(const Integrated& gpu);

/// The least driver for a CUDA, and the row that says so.
struct Floor {
    Version driver;
    Row row;
    bool by_major = false;  ///< it is the minimum of the CUDA major, not of the release
};
[[nodiscard]] std::optional<Floor> floor_of(const Facts& facts, const Version& cuda, bool windows);

/// What the compat libraries in the image (cuda_compat) do on the cell's driver.
enum class CompatUse {
    works,         ///< newer than the driver, and made for its branch
    unused,        ///< not newer than the driver, which serves everything that they do
    wrong_branch,  ///< newer, and the driver's branch is not among those that they are made for
    open,          ///< a fact is missing: see gap
};
struct Compat {
    CompatUse use = CompatUse::open;
    Version cuda;            ///< 12.4
    NativeCuda native;       ///< of the driver
    std::optional<Row> row;  ///< of forward_compatibility
    std::optional<Unresolved> gap;
};
/// For a cuda_compat that names the driver which the libraries are of, not their CUDA.
[[nodiscard]] std::optional<Unresolved> compat_gap(const Context& context);
/// For a cell with cuda_compat and a Linux driver that facts know.
[[nodiscard]] Compat compat_on(const Context& context, const lookup::Driver& driver);

/// The class of hosts that decides, where it was read, and how a message calls it.
struct Hardware {
    Field field = Field::host_class;
    std::string host_class;
    std::string text;  ///< "RTX 4090 (class geforce)", "host class geforce"
    std::vector<FactRef> facts;
};
/// For a cell with a gpu or a host_class; the latter decides.
[[nodiscard]] Resolved<Hardware> compat_hardware(const Context& context);

/// Whether the hardware is known to refuse compat libraries.
[[nodiscard]] bool refuses_compat(const Context& context);

/// Whether compat libraries are made for the hardware (class datacenter).
[[nodiscard]] bool accepts_compat(const Context& context);

/// The release of nvidia-container-toolkit from which on libraries are left unused on branches that they are
/// not made for.
[[nodiscard]] std::optional<Version> branch_check_since(const Facts& facts);
/// Whether the cell's toolkit may use libraries on such a branch: it is older than that, or not given.
[[nodiscard]] bool toolkit_uses_any_branch(const Context& context);

/// What the open kernel modules are to a GPU: required, supported, unsupported; empty where no fact says it.
/// The board's own row speaks before its architecture's (Grace Hopper needs what Hopper merely supports).
[[nodiscard]] std::string_view open_kernel_module(const Device& device);

/// The oldest architecture that they run.
[[nodiscard]] std::optional<Row> first_with_open_modules(const Facts& facts);

/// The row of container_toolkits whose series holds the cell's `toolkit`; nothing where the cell names none
/// or the facts do not reach.
[[nodiscard]] std::optional<Row> container_toolkit(const Context& context);

}  // namespace cudamatrix::rules
