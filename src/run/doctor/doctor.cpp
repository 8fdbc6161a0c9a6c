#include "run/doctor/doctor.hpp"

#include <array>
#include <iterator>

#include "run/doctor/probes.hpp"

namespace cudamatrix::doctor {
namespace {

// THE list of probes, in the order of the report.
constexpr std::array kProbes{driver_lines,        module_lines,      library_lines, device_node_lines,
                             gpu_lines,           toolkit_lines,     cgroup_lines,  cdi_lines,
                             shared_memory_lines, library_path_lines};

}  // namespace

std::string Context::why_no(std::string_view what) const {
    for (const auto& missing : host.missing) {
        if (missing.what == what) return missing.why;
    }
    return {};
}

std::optional<std::uint64_t> capacity_of(const std::filesystem::path& folder) {
    std::error_code error;
    const auto space = std::filesystem::space(folder, error);
    if (error) return std::nullopt;
    return space.capacity;
}

std::vector<DoctorLine> examine(const probe::Machine& machine, const Facts& facts, const Capacity& capacity) {
    const auto host = probe::look_at(machine);
    const Context context{machine, host, facts, capacity};
    std::vector<DoctorLine> lines;
    for (const auto& probe : kProbes) {
        auto more = probe(context);
        lines.insert(lines.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
    return lines;
}

}  // namespace cudamatrix::doctor
