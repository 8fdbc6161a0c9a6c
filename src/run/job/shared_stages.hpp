// Which stages of Dockerfiles are the same, so that builds that run side by side need not each make them.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace cudamatrix::job {

/// A Dockerfile of ours, and what its context holds: path -> hash of the content.
struct BuildFile {
    std::string dockerfile;
    std::map<std::string, std::string, std::less<>> context;
};

/// A stage that several files have, word for word, on the same base and with the same files copied.
struct SharedStage {
    std::string name;                ///< as in the first of them
    std::vector<std::size_t> files;  ///< their places in the list, at least two
    std::string key;                 ///< hash of all that goes into it
};

/// Of stages that the same files share and that stand on one another, the last. A stage that takes something
/// from its context that is not known, or mounts it, is shared by none.
[[nodiscard]] std::vector<SharedStage> shared_stages(const std::vector<BuildFile>& files);

struct Plan;

/// An image of the plan, or its proof.
struct BuildTarget {
    std::size_t index = 0;
    bool proof = false;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 that a comparison makes for a pointer
    friend auto operator<=>(const BuildTarget&, const BuildTarget&) = default;
};

/// What each is built from.
[[nodiscard]] std::vector<BuildFile> build_files(const Plan& plan, const std::vector<BuildTarget>& targets);

/// Images of the plan, by their places, whose builds have a stage in common: at least two each.
[[nodiscard]] std::vector<std::vector<std::size_t>> images_with_shared_stages(const Plan& plan);

}  // namespace cudamatrix::job
