// Bases from registries: the digests that their tags have now, and what of it is news to the lock.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "render/lock/lock_file.hpp"
#include "run/job/lock_scope.hpp"
#include "run/job/progress.hpp"
#include "run/job/session.hpp"

namespace cudamatrix::job {

struct RegistryBases {
    std::map<std::string, RegistryBase, std::less<>>
        references;  ///< of what was asked for and has no finding: as now
    /// Tags that moved or vanished without leave, that never were, or that lack the architecture asked for:
    /// each names the digests.
    std::vector<Diagnostic> findings;
    /// Of those, what no image can be resolved on: it has no digest, or one that cannot be pulled any longer.
    std::set<std::string, std::less<>> out_of_reach;
    /// By reference: its registry gave no answer, or no access. What is pinned stays; the others are out of
    /// reach.
    std::map<std::string, Failure> unreached;
};

/// Asks the registries, through the mirror map, for the bases of `images`: what `lock` has no digest for or
/// `scope` moves is taken as it is now; of the rest (only where `check`) it is seen whether the tag still has
/// the digest that is pinned. Without such a base nothing is asked. One registry that cannot be asked does
/// not keep the others back. Failures: bad input, an interrupt.
[[nodiscard]] Result<RegistryBases> resolve_bases(const std::vector<Image>& images, const Lock& lock,
                                                  const LockScope& scope, bool check, const RunInput& input,
                                                  const RunSettings& settings, Ticker& ticker);

}  // namespace cudamatrix::job
