// Which stages of Dockerfiles are the same, so that builds that run side by side need not each make them.
#pragma once

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

}  // namespace cudamatrix::job
