// Proving the cells of a plan: the suite, for each cell, inside the cell's image.
#pragma once

#include "run/engine/engine.hpp"
#include "run/host/gpu.hpp"
#include "run/job/plan.hpp"
#include "run/job/progress.hpp"
#include "run/job/session.hpp"

namespace cudamatrix::job {

/// Runs the suite for every planned cell and writes outcome, proof, tests and log into plan.report. A result
/// of an earlier run counts where image, arguments and tool are the same and it passed. A red cell is no
/// Failure; an engine that no longer answers is. An interrupt leaves the cells that were not reached as they
/// are.
[[nodiscard]] Status test_plan(const RunInput& input, const RunSettings& settings,
                               const engine::Engine& engine, const std::vector<engine::Gpu>& gpus,
                               Ticker& ticker, Plan& plan);

}  // namespace cudamatrix::job
