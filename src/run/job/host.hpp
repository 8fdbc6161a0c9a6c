// Engine `host`: no container. The suite is built with this machine's own nvcc and run here; images are not
// built.
#pragma once

#include "run/engine/engine.hpp"
#include "run/host/gpu.hpp"
#include "run/job/plan.hpp"
#include "run/job/progress.hpp"
#include "run/job/session.hpp"

namespace cudamatrix::job {

/// Keeps the cells whose toolkit is the one of this machine (same major and minor); all others become
/// `skipped`, with the reason. The report then lists no images.
void keep_host_cells(const engine::Engine& engine, Plan& plan);

/// Builds the suite below OUT/host for each remaining image; cells get proof `built`, or are `errored`.
[[nodiscard]] Status build_on_host(const RunSettings& settings, const engine::Engine& engine, Ticker& ticker,
                                   Plan& plan);

/// Runs the suites that were built, for each cell.
[[nodiscard]] Status test_on_host(const RunInput& input, const RunSettings& settings,
                                  const std::vector<engine::Gpu>& gpus, Ticker& ticker, Plan& plan);

}  // namespace cudamatrix::job
