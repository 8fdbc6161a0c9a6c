// Pinning: asks the package managers of each image's own base what they would install, and writes it down.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "run/plan.hpp"
#include "run/progress.hpp"
#include "run/session.hpp"

namespace cudamatrix::job {

/// Resolves every image of `plan` that its lock does not cover (`update`: all), writes the lock beside the
/// matrix file and renders the plan anew with it. Gives one line for each pin that is new or moved. Nothing
/// is written unless every image could be resolved.
[[nodiscard]] Result<std::vector<std::string>> resolve_lock(const RunInput& input,
                                                            const RunSettings& settings, bool update,
                                                            const engine::Engine& engine, Ticker& ticker,
                                                            Plan& plan);

/// The recipe of the base is what the lock recorded, but what it gives has changed since.
[[nodiscard]] Failure base_moved(const std::string& suite, const std::string& locked,
                                 const std::string& found);

}  // namespace cudamatrix::job
