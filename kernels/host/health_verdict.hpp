#pragma once

#include "kernels/host/nvml.hpp"
#include "kernels/support/context.hpp"
#include "kernels/support/record.hpp"

namespace cudamatrix::suite {

/// What NVML's readings mean: the verdict of dev.health and stress.health. Pure.
[[nodiscard]] Record judge_health(const HealthFacts& facts);

/// Reads and judges, where the run may look at GPUs.
[[nodiscard]] Record health_record(const Context& context, const std::string& library = "libnvidia-ml.so.1");

}  // namespace cudamatrix::suite
