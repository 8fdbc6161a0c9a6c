// The commit that an image is made from: org.opencontainers.image.revision of the OCI image specification.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/process.hpp"

namespace cudamatrix::job {

struct SourceRevision {
    std::string id;  ///< the commit's whole hash; with "-dirty" where a file is not as it has it; or empty
    std::string why_none;  ///< why it is empty
};

/// Asks git, which runs nothing of the repository, for the commit that holds `files` (relative to `folder`;
/// the matrix file first). A file that git does not know makes it dirty, a matrix file that it does not know
/// belongs to no commit. Never a failure: an image is built without a repository as well.
[[nodiscard]] SourceRevision source_revision(const std::filesystem::path& folder,
                                             const std::vector<std::string>& files,
                                             const Environment& environment,
                                             const Cancellation* cancellation);

}  // namespace cudamatrix::job
