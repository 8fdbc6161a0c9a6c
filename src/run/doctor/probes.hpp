// The probes, each from what is known of a machine to lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "run/doctor/doctor.hpp"

namespace cudamatrix::doctor {

/// What probes look at. `host` is what look_at found on `machine`.
struct Context {
    const probe::Machine& machine;
    const probe::Host& host;
    const Facts& facts;
    const Capacity& capacity;

    [[nodiscard]] std::filesystem::path below(std::string_view absolute) const {
        return machine.root / absolute.substr(1);
    }
    /// The kernel shows NVIDIA's module. Under WSL it does not, and nvidia-smi answers all the same.
    [[nodiscard]] bool has_module() const { return host.kernel_module.has_value(); }
    [[nodiscard]] bool has_driver() const { return has_module() || host.driver.has_value(); }
    /// Why there is no value; empty where there is one.
    [[nodiscard]] std::string why_no(std::string_view what) const;
};

using Lines = std::vector<DoctorLine>;

// of the driver
[[nodiscard]] Lines driver_lines(const Context& context);
[[nodiscard]] Lines module_lines(const Context& context);
[[nodiscard]] Lines library_lines(const Context& context);
[[nodiscard]] Lines device_node_lines(const Context& context);
[[nodiscard]] Lines gpu_lines(const Context& context);

// of containers and programs
[[nodiscard]] Lines toolkit_lines(const Context& context);
[[nodiscard]] Lines cgroup_lines(const Context& context);
[[nodiscard]] Lines cdi_lines(const Context& context);
[[nodiscard]] Lines shared_memory_lines(const Context& context);
[[nodiscard]] Lines library_path_lines(const Context& context);

}  // namespace cudamatrix::doctor
