// Pinning: asks registries for the digests of bases, and the package managers of each image's own base what
// they would install, and writes it down.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/result.hpp"
#include "registry/http.hpp"
#include "render/image/image.hpp"
#include "render/lock/lock_file.hpp"
#include "run/job/job.hpp"

namespace cudamatrix::job {

// Which pins `lock --update` moves.

class LockScope {
  public:
    /// What has no pin yet, and nothing else.
    [[nodiscard]] static LockScope missing() { return {}; }
    [[nodiscard]] static LockScope everything();
    /// `words` of: images (digests of registries' tags), bases (bootstrap tars), apt, wheels, the id of an
    /// image (its packages and wheels), an image reference (its digest): of a base, or one of `named`. None:
    /// everything. An input failure for what names none of the images.
    [[nodiscard]] static Result<LockScope> of(const std::vector<std::string>& words,
                                              const std::vector<Image>& images,
                                              const std::vector<std::string>& named = {});

    [[nodiscard]] bool reference(std::string_view canonical) const {
        return references_ || named_.count(canonical) > 0;
    }
    [[nodiscard]] bool bases() const { return bases_; }
    /// The states of archives: all pins stand on them.
    [[nodiscard]] bool snapshots() const { return references_ && bases_ && apt_ && wheels_; }
    [[nodiscard]] bool apt(std::string_view image) const { return apt_ || named_.count(image) > 0; }
    [[nodiscard]] bool wheels(std::string_view image) const { return wheels_ || named_.count(image) > 0; }

  private:
    bool references_ = false;
    bool bases_ = false;
    bool apt_ = false;
    bool wheels_ = false;
    std::set<std::string, std::less<>> named_;  ///< ids of images, canonical references
};

// Bases from registries: the digests that their tags have now, and what of it is news to the lock.
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
    /// What was read of configurations: of the digests of `references`, and of what cells name by `image`.
    std::map<std::string, ImageConfiguration, std::less<>> configurations;
    /// Official images that are not there for the asking, and why, in a line: their bases are bootstrapped.
    std::map<std::string, std::string> left;
    /// What the lock records of these is of another digest than they have now, which could not be read.
    std::set<std::string, std::less<>> outdated;
};

/// Ids of the cells that the choice leaves.
[[nodiscard]] std::set<std::string_view> chosen_cells(const Plan& plan);

/// The verdicts that the lock gets: of cells that are not chosen what it has.
[[nodiscard]] RecordedVerdicts to_record(const Job& job, RecordedVerdicts now);

/// Packages were resolved on a base: that `scope` moves it under images that are not chosen and have pins is
/// an input failure.
[[nodiscard]] Status bases_stay_under_others(const Plan& plan, const LockScope& scope);

/// The images that chosen cells name by `image`, as the lock names them, sorted.
[[nodiscard]] std::vector<std::string> named_images(const Job& job);

/// How the network is asked: with the proxies, certificates, netrc and mirrors of the matrix file.
[[nodiscard]] HttpOptions http_options(const Job& job);

/// Asks the registries, through the mirror map, for the bases of the images: what the lock has no digest for
/// or `scope` moves is taken as it is now; of the rest (only where `check`) it is seen whether the tag still
/// has the digest that is pinned. Without such a base nothing is asked. One registry that cannot be asked
/// does not keep the others back. Failures: bad input, an interrupt.
/// Of what was asked the configuration is read too, once for each digest: nothing asks for it again. Where
/// `check`, or where nothing was recorded yet, the same is done for what cells name by `image`, which no
/// image is built on: what cannot be found out of these is told as progress, only a tag that moved or
/// vanished is a finding.
/// Where one of `optional` is not to be had, that is no finding (RegistryBases::left).
[[nodiscard]] Result<RegistryBases> resolve_bases(Job& job, const LockScope& scope, bool check,
                                                  const TakenBases& optional = {});

/// `build: {base_from: auto}`: the official images that chosen images would be built on if their registry had
/// them, where the lock has no bootstrapped base for them yet, or `scope` moves bases.
[[nodiscard]] TakenBases undecided_bases(const Job& job, const LockScope& scope);

/// Nothing under the image's own packages has changed.
[[nodiscard]] bool same_base(const Image& image, const Lock& before, const Lock& after);

/// `build: {snapshot: auto}`: for the archives of chosen images that have no packages pinned yet, or that
/// `scope` moves, asks their services whether they have the state of the beginning of today. `taken`: what
/// the lock has; what is had goes into it, all else out of it, and is told in a line each. Failures: an
/// interrupt.
[[nodiscard]] Status decide_snapshots(Job& job, const LockScope& scope, TakenSnapshots& taken);

/// Whether packages of the image come from the same state of its archive, as far as the locks decide that.
[[nodiscard]] bool same_snapshot(const Image& image, const Lock& before, const Lock& after);

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

/// What the plan lacks and `scope` moves. `check` (of `lock`): tags whose digest is pinned are looked at as
/// well, and today's verdicts, by the configurations that the lock will have, take the place of those that
/// are recorded.
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
