// Questions to git about a repository. It runs nothing that the repository names, and takes no lock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/process.hpp"

namespace cudamatrix {

class Git {
  public:
    /// Asks in `folder`; an empty one is the caller's.
    Git(const std::filesystem::path& folder, const Environment& environment,
        const Cancellation* cancellation);

    /// What `git QUESTION..` answers; one of more than `limit` bytes is cut off (Ended::flooded).
    [[nodiscard]] Result<Outcome> ask(const std::vector<std::string>& question,
                                      std::uint64_t limit = 8u << 20) const;

  private:
    std::string folder_;
    Environment environment_;
    const Cancellation* cancellation_;
};

/// Why an answer is none: "git: fatal: ...".
[[nodiscard]] std::string why_git_failed(const Result<Outcome>& answer);

}  // namespace cudamatrix
