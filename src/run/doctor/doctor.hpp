// Checks of a machine for GPU work: one probe for each thing. Nothing is loaded, installed or
// changed, and no probe needs root.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "knowledge/facts/facts.hpp"
#include "report/doctor.hpp"
#include "run/host/host.hpp"

namespace cudamatrix::doctor {

/// Bytes that the file system of a folder holds in all; nothing where it cannot be asked.
using Capacity = std::function<std::optional<std::uint64_t>(const std::filesystem::path&)>;
[[nodiscard]] std::optional<std::uint64_t> capacity_of(const std::filesystem::path& folder);

/// The lines of every probe, in the order of the list. Takes at most a few times the machine's time limit.
[[nodiscard]] std::vector<DoctorLine> examine(const probe::Machine& machine, const Facts& facts,
                                              const Capacity& capacity = capacity_of);

}  // namespace cudamatrix::doctor
