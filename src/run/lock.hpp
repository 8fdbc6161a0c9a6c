// Pinning: asks registries for the digests of bases, and the package managers of each image's own base what
// they would install, and writes it down.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "engine/engine.hpp"
#include "run/lock_scope.hpp"
#include "run/plan.hpp"
#include "run/progress.hpp"
#include "run/session.hpp"

namespace cudamatrix::job {

/// What is to be pinned: bases from registries have their digests already.
struct LockWork {
    Lock lock;  ///< the one that is there, with those digests
    LockScope scope;
    std::vector<const Image*> images;  ///< of the plan: their package managers are to be asked
    std::vector<Diagnostic> findings;  ///< see RegistryBases: with one of them nothing is to be written
};

/// What `plan` lacks and `scope` moves. `check`: tags whose digest is pinned are looked at as well.
[[nodiscard]] Result<LockWork> plan_lock(const RunInput& input, const RunSettings& settings,
                                         const LockScope& scope, bool check, Ticker& ticker,
                                         const Plan& plan);

/// Resolves the images of `work`, writes the lock beside the matrix file and renders the plan anew with it.
/// Gives one line for each pin that is new or moved. Nothing is written unless every image could be resolved.
/// `engine` is not used where `work` has no images.
[[nodiscard]] Result<std::vector<std::string>> carry_out(const RunInput& input, const RunSettings& settings,
                                                         const LockWork& work, const engine::Engine& engine,
                                                         Ticker& ticker, Plan& plan);

/// The recipe of the base is what the lock recorded, but what it gives has changed since.
[[nodiscard]] Failure base_moved(const std::string& suite, const std::string& locked,
                                 const std::string& found, const Matrix& matrix);

}  // namespace cudamatrix::job
