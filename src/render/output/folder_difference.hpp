// What stands between an output folder and its artifacts (private to src/render). Nothing is touched to find
// it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "render/output/output_folder.hpp"
#include "render/output/owned_files.hpp"

namespace cudamatrix {

/// Folders on the way to files, each looked at once: thousands of images share most of theirs.
class Folders {
  public:
    explicit Folders(const std::filesystem::path& out) : out_(out) {}

    /// The first step to `folder` (relative) that is there and no directory of its own (a file, a symbolic
    /// link), empty when none is.
    const std::filesystem::path& obstacle(const std::filesystem::path& folder) {
        return look(folder).obstacle;
    }
    /// Whether there may be such a directory: where there is none, nothing lies in it.
    bool is_there(const std::filesystem::path& folder) { return look(folder).is_there; }

  private:
    struct Seen {
        std::filesystem::path obstacle;
        bool is_there = true;
    };

    const Seen& look(const std::filesystem::path& folder);

    const std::filesystem::path& out_;
    std::map<std::string, Seen> known_;
};

struct Difference {
    struct File {
        const Artifact* artifact = nullptr;
        Drift::Kind kind = Drift::Kind::changed;  ///< changed, missing or foreign
    };
    std::vector<File> files;
    std::size_t unchanged = 0;
    OwnedFiles stale, orphans;     ///< as they were written, with their hashes
    std::set<std::string> edited;  ///< those of both that were changed by hand
};

/// Fails where a path leaves `out`, or a link or a file is on the way to one.
[[nodiscard]] Result<Difference> difference_of(const std::filesystem::path& out,
                                               const std::vector<Artifact>& artifacts,
                                               const OwnedFiles& ours);

}  // namespace cudamatrix
