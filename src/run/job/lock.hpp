// Pinning: asks registries for the digests of bases, and the package managers of each image's own base what
// they would install, and writes it down.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "run/job/job.hpp"
#include "run/job/lock_bases.hpp"

namespace cudamatrix::job {

/// What is to be pinned: bases from registries have their digests already.
struct LockWork {
    Lock lock;  ///< the one that is there, with those digests
    LockScope scope;
    std::vector<const Image*> images;          ///< of the plan: their package managers are to be asked
    std::vector<Diagnostic> findings;          ///< see RegistryBases: what has one stays as it is
    std::map<std::string, Failure> unreached;  ///< see RegistryBases
};

struct LockOutcome {
    std::vector<std::string> changes;           ///< one line for each pin that is new or moved
    std::map<std::string, Failure> unresolved;  ///< by Image::id: why its pins are as they were
};

/// What the plan lacks and `scope` moves. `check`: tags whose digest is pinned are looked at as well.
[[nodiscard]] Result<LockWork> plan_lock(Job& job, const LockScope& scope, bool check);

/// Resolves the images of `work`, writes the lock beside the matrix file and renders the plan anew with it.
/// What cannot be resolved keeps the pins that it has, the others are written all the same. A failure is what
/// concerns them all (bad input, an interrupt): nothing is written. The engine is not used where `work` has
/// no images.
[[nodiscard]] Result<LockOutcome> carry_out(Job& job, const LockWork& work);

/// The recipe of the base is what the lock recorded, but what it gives has changed since.
[[nodiscard]] Failure base_moved(const std::string& suite, const std::string& locked,
                                 const std::string& found, const Matrix& matrix);

}  // namespace cudamatrix::job
