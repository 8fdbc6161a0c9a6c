#pragma once

#include <optional>

#include "kernels/host/driver_probe.hpp"
#include "kernels/support/context.hpp"
#include "kernels/support/record.hpp"

namespace cudamatrix::suite {

/// What the probe's facts mean for the cell: the decision tree of dev.driver. Pure.
[[nodiscard]] Record judge_driver(const DriverFacts& facts, const Context& context);

/// The answer of a test that needs a GPU and has none that works; nothing where there is one.
[[nodiscard]] std::optional<Record> without_gpu(const DriverFacts& facts, const Context& context);

}  // namespace cudamatrix::suite
