// The probes, each from what is known of a machine to lines.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "run/doctor/doctor.hpp"

namespace cudamatrix::doctor {

/// What probes look at, and what was found before them.
struct Context {
    std::shared_ptr<const Subject> subject;
    probe::Host host;
    SuiteAnswers suite;

    [[nodiscard]] const probe::Machine& machine() const { return subject->machine; }
    [[nodiscard]] std::filesystem::path below(std::string_view absolute) const {
        return machine().root / absolute.substr(1);
    }
    /// The kernel shows NVIDIA's module. Under WSL it does not, and nvidia-smi answers all the same.
    [[nodiscard]] bool has_module() const { return host.kernel_module.has_value(); }
    [[nodiscard]] bool has_driver() const { return has_module() || host.driver.has_value(); }
};

using Lines = std::vector<DoctorLine>;

// of the driver
[[nodiscard]] Lines driver_lines(const Context& context);
[[nodiscard]] Lines module_lines(const Context& context);
[[nodiscard]] Lines library_lines(const Context& context);
[[nodiscard]] Lines device_node_lines(const Context& context);
[[nodiscard]] Lines gpu_lines(const Context& context);

// of the suite's tests
[[nodiscard]] Lines cuda_driver_lines(const Context& context);
[[nodiscard]] Lines gpu_health_lines(const Context& context);
[[nodiscard]] Lines environment_lines(const Context& context);
/// The line of a test of the suite; nothing where it gave no answer.
[[nodiscard]] std::optional<DoctorLine> suite_line(const Context& context, std::string_view test,
                                                   std::string_view probe);
/// The GPUs that libcuda shows, where no tool told any.
void add_gpus_of(const SuiteAnswers& answers, probe::Host& host);

// of containers and programs
[[nodiscard]] Lines toolkit_lines(const Context& context);
[[nodiscard]] Lines cgroup_lines(const Context& context);
/// Whether the container toolkit is told to (`no-cgroups = true`); none: its configuration cannot be read.
[[nodiscard]] std::optional<bool> leaves_cgroups_alone(const Context& context);
[[nodiscard]] Lines cdi_lines(const Context& context);
[[nodiscard]] Lines engine_lines(const Context& context);
[[nodiscard]] Lines shared_memory_lines(const Context& context);
[[nodiscard]] Lines library_path_lines(const Context& context);

// of what builds need
[[nodiscard]] Lines disk_lines(const Context& context);
[[nodiscard]] DoctorLine disk_line(const Context& context, const std::filesystem::path& folder,
                                   std::string_view what);
[[nodiscard]] Lines network_lines(const Context& context);

// of torch
[[nodiscard]] Lines python_lines(const Context& context);

}  // namespace cudamatrix::doctor
