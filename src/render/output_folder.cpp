#include "render/output_folder.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"

namespace cudamatrix {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestIndex = 256u << 20;

using Files = std::map<std::string, std::string>;  // path -> sha256

std::string shown(const fs::path& path) {
    return text::printable(path.string());
}

// The list is what sha256sum --check reads.
constexpr std::string_view kListHead = "# Files written by cudamatrix. Compare: sha256sum --check --quiet ";
constexpr std::size_t kDigest = 64;

// The files that earlier runs wrote, by the list in `path`. Paths that no render gives are left out: a list
// that somebody edited must not make us delete what lies elsewhere.
std::optional<Files> files_of_list(std::string_view content) {
    Files files;
    if (!content.starts_with(kListHead)) return std::nullopt;
    while (!content.empty()) {
        const auto end = std::min(content.find('\n'), content.size());
        const auto line = content.substr(0, end);
        content.remove_prefix(std::min(end + 1, content.size()));
        if (line.starts_with('#')) continue;
        if (line.size() < kDigest + 3 || line.substr(kDigest, 2) != "  ") return std::nullopt;
        const auto name = line.substr(kDigest + 2);
        if (is_inside(name)) files.emplace(name, line.substr(0, kDigest));
    }
    return files;
}

std::optional<Files> files_of_index(std::string_view content) {
    Files files;
    const auto json = parse_json(content, kIndexFile);
    if (!json.ok() || string_or(*json, "tool") != "cudamatrix" || !json->contains("files") ||
        !(*json)["files"].is_object()) {
        return std::nullopt;
    }
    for (const auto& [name, digest] : (*json)["files"].items()) {
        if (is_inside(name) && digest.is_string()) files[name] = digest.get<std::string>();
    }
    return files;
}

Result<Files> owned_files(const fs::path& out) {
    std::error_code error;
    for (const auto name : {kOwnedFile, kIndexFile}) {
        const auto path = out / name;
        const auto status = fs::symlink_status(path, error);
        if (!fs::exists(status)) continue;
        std::optional<Files> files;
        if (fs::is_regular_file(status)) {
            const auto content = file::read(path, kLargestIndex);
            if (!content.ok()) return content.failure();
            files = files_of_list(*content);
            if (!files) files = files_of_index(*content);
        }
        if (files) return std::move(*files);
        return environment_failure(
            fmt::format("{} was not written by cudamatrix: the folder is left alone", shown(path)),
            "give another folder with --out, or remove that file");
    }
    return Files{};
}

std::string owned_text(const std::vector<Artifact>& artifacts, const Files& orphans) {
    Files all = orphans;
    for (const auto& artifact : artifacts)
        all[artifact.path.generic_string()] =
            artifact.sha256.empty() ? sha256(artifact.content) : artifact.sha256;
    std::string out = fmt::format("{}{}\n", kListHead, kOwnedFile);
    for (const auto& [name, digest] : all)
        out += fmt::format("{}  {}\n", digest, name);
    return out;
}

// Folders on the way to files, each looked at once: thousands of images share most of theirs.
class Folders {
  public:
    explicit Folders(const fs::path& out) : out_(out) {}

    /// The first step to `folder` (relative) that is there and no directory of its own (a file, a symbolic
    /// link), empty when none is.
    const fs::path& obstacle(const fs::path& folder) { return look(folder).obstacle; }
    /// Whether there may be such a directory: where there is none, nothing lies in it.
    bool is_there(const fs::path& folder) { return look(folder).is_there; }

  private:
    struct Seen {
        fs::path obstacle;
        bool is_there = true;
    };

    const Seen& look(const fs::path& folder) {
        const auto known = known_.find(folder.native());
        if (known != known_.end()) return known->second;
        auto found = folder.empty() ? Seen{} : look(folder.parent_path());
        std::error_code error;
        if (found.is_there) {
            const auto status = fs::symlink_status(out_ / folder, error);
            found.is_there = status.type() != fs::file_type::not_found;
            if (fs::exists(status) && !folder.empty() && !fs::is_directory(status))
                found = {out_ / folder, false};
        }
        return known_.emplace(folder.native(), std::move(found)).first->second;
    }

    const fs::path& out_;
    std::map<std::string, Seen> known_;
};

// "images/ID" of a path below it, else empty.
std::string image_folder_of(const fs::path& path) {
    auto part = path.begin();
    if (part == path.end() || *part != "images" || ++part == path.end()) return {};
    return "images/" + part->string();
}

// What stands between a folder and its artifacts. Nothing is touched to find it.
struct Difference {
    struct File {
        const Artifact* artifact = nullptr;
        Drift::Kind kind = Drift::Kind::changed;  ///< changed, missing or foreign
    };
    std::vector<File> files;
    std::size_t unchanged = 0;
    Files stale, orphans;          ///< as they were written, with their hashes
    std::set<std::string> edited;  ///< those of both that were changed by hand
};

Failure in_the_way(const fs::path& file, const fs::path& step) {
    std::error_code error;
    const bool link = fs::is_symlink(fs::symlink_status(step, error));
    return environment_failure(fmt::format("cannot write {}: {} is {}", shown(file), shown(step),
                                           link ? "a symbolic link" : "no directory"),
                               link ? "remove the link, or give another folder with --out"
                                    : "move it away, or give another folder with --out");
}

Status compare_files(const fs::path& out, const std::vector<Artifact>& artifacts, const Files& ours,
                     Difference& difference) {
    Folders folders(out);
    std::error_code error;
    for (const auto& artifact : artifacts) {
        const auto& path = artifact.path;
        if (!is_inside(path))
            return environment_failure(fmt::format("{} does not lie inside the output folder", shown(path)));
        const auto file = out / path;
        if (const auto& step = folders.obstacle(path.parent_path()); !step.empty())
            return in_the_way(file, step);
        auto kind = Drift::Kind::changed;
        const bool may_be_there = folders.is_there(path.parent_path());
        switch (may_be_there ? file::compare(file, artifact.content) : file::Compared::missing) {
            case file::Compared::same:
                ++difference.unchanged;
                continue;
            case file::Compared::missing:
                kind = Drift::Kind::missing;
                break;
            case file::Compared::no_file: {
                const auto status = fs::symlink_status(file, error);
                if (fs::is_symlink(status)) return in_the_way(file, file);
                if (!fs::is_regular_file(status)) kind = Drift::Kind::foreign;
                break;
            }
            case file::Compared::other:
                break;
        }
        if (kind == Drift::Kind::changed && ours.count(path.generic_string()) == 0)
            kind = Drift::Kind::foreign;
        difference.files.push_back({&artifact, kind});
    }
    return Done{};
}

// Files that an image no longer has would still reach its builds: they are stale. Those of whole images that
// are gone are orphans.
Status compare_leftovers(const fs::path& out, const std::vector<Artifact>& artifacts, const Files& ours,
                         Difference& difference) {
    std::set<std::string> wanted;
    std::set<std::string> folders;
    for (const auto& artifact : artifacts) {
        wanted.insert(artifact.path.generic_string());
        folders.insert(image_folder_of(artifact.path));
    }
    Folders steps(out);
    for (const auto& [name, digest] : ours) {
        if (wanted.count(name) != 0 || !steps.obstacle(fs::path(name).parent_path()).empty()) continue;
        std::error_code error;
        const auto path = out / name;
        if (!fs::is_regular_file(fs::symlink_status(path, error))) continue;
        const auto there = sha256_of_file(path);
        if (!there.ok()) return there.failure();
        if (*there != digest) difference.edited.insert(name);
        (folders.count(image_folder_of(name)) != 0 ? difference.stale : difference.orphans)
            .emplace(name, digest);
    }
    return Done{};
}

Result<Difference> difference_of(const fs::path& out, const std::vector<Artifact>& artifacts,
                                 const Files& ours) {
    Difference difference;
    if (auto done = compare_files(out, artifacts, ours, difference); !done.ok()) return done.failure();
    if (auto done = compare_leftovers(out, artifacts, ours, difference); !done.ok()) return done.failure();
    return difference;
}

// Refuses what must not be written over or removed; nothing has been touched so far.
Status check_allowed(const fs::path& out, const Difference& difference, bool prune) {
    for (const auto& [artifact, kind] : difference.files) {
        if (kind != Drift::Kind::foreign) continue;
        return environment_failure(
            fmt::format("cannot write {}: it is there already, and cudamatrix did not write it",
                        shown(out / artifact->path)),
            "move it away, or give another folder with --out");
    }
    for (const auto& name : difference.edited) {
        if (!prune && difference.orphans.count(name) != 0) continue;
        return environment_failure(
            fmt::format("{} is no longer rendered, but it was changed by hand", shown(out / name)),
            "move it away");
    }
    return Done{};
}

Status change_folder(const fs::path& out, const Difference& difference, const Files& removes,
                     const std::string& list, const Step& step) {
    if (auto made = file::make_directories(out); !made.ok()) return made;
    StagedTree staged(out, step);
    Expected replaces;
    const auto expect = [&](const fs::path& path) -> Status {
        auto there = sha256_of_file(out / path);
        if (!there.ok()) return there.failure();
        replaces.emplace(path.generic_string(), std::move(*there));
        return Done{};
    };
    std::vector<StagedTree::File> files;
    for (const auto& [artifact, kind] : difference.files) {
        if (kind == Drift::Kind::changed) {
            if (auto done = expect(artifact->path); !done.ok()) return done;
        }
        files.push_back({artifact->path, artifact->content});
    }
    if (const auto there = file::compare(out / kOwnedFile, list); there != file::Compared::same) {
        if (there != file::Compared::missing) {
            if (auto done = expect(kOwnedFile); !done.ok()) return done;
        }
        files.push_back({kOwnedFile, list});
    }
    if (auto done = staged.put(files); !done.ok()) return done;
    return staged.commit(replaces, removes);
}

}  // namespace

Status recover_output(const fs::path& out) {
    return StagedTree::recover(out);
}

Result<Written> write_artifacts(const fs::path& out, const std::vector<Artifact>& artifacts,
                                const WriteOptions& options) {
    if (auto done = StagedTree::recover(out, options.step); !done.ok()) return done.failure();
    const auto ours = owned_files(out);
    if (!ours.ok()) return ours.failure();
    auto difference = difference_of(out, artifacts, *ours);
    if (!difference.ok()) return difference.failure();
    if (auto done = check_allowed(out, *difference, options.prune); !done.ok()) return done.failure();

    Written written;
    auto removes = difference->stale;
    if (options.prune) {
        for (const auto& [name, digest] : difference->orphans)
            written.pruned.push_back(name);
        removes.merge(std::exchange(difference->orphans, {}));
    }
    written.changed = difference->files.size();
    written.unchanged = difference->unchanged;
    written.removed = removes.size();
    for (const auto& [name, digest] : difference->orphans)
        written.orphans.push_back(name);
    const auto list = owned_text(artifacts, difference->orphans);
    if (difference->files.empty() && removes.empty() &&
        file::compare(out / kOwnedFile, list) == file::Compared::same) {
        return written;
    }
    if (auto done = change_folder(out, *difference, removes, list, options.step); !done.ok())
        return done.failure();
    return written;
}

Result<Cleared> clear_artifacts(const fs::path& out) {
    if (auto done = StagedTree::recover(out); !done.ok()) return done.failure();
    const auto ours = owned_files(out);
    if (!ours.ok()) return ours.failure();
    Cleared cleared;
    Folders folders(out);
    std::set<fs::path> left;
    for (const auto& [name, digest] : *ours) {
        const auto path = out / name;
        std::error_code error;
        if (!folders.obstacle(fs::path(name).parent_path()).empty()) continue;
        if (!fs::is_regular_file(fs::symlink_status(path, error))) continue;
        const auto there = sha256_of_file(path);
        if (!there.ok()) return there.failure();
        if (*there != digest) {
            cleared.kept.push_back(name);
            continue;
        }
        fs::remove(path, error);
        if (error)
            return environment_failure(fmt::format("cannot remove {}: {}", shown(path), error.message()));
        ++cleared.removed;
        for (auto step = fs::path(name).parent_path(); !step.empty(); step = step.parent_path())
            left.insert(step);
    }
    std::error_code ignored;
    // The deepest first: a folder sorts before what lies in it. One that still holds something stays.
    for (auto folder = left.rbegin(); folder != left.rend(); ++folder)
        fs::remove(out / *folder, ignored);
    if (cleared.kept.empty() && fs::is_regular_file(fs::symlink_status(out / kOwnedFile, ignored)))
        fs::remove(out / kOwnedFile, ignored);
    return cleared;
}

std::string_view to_string(Drift::Kind kind) {
    switch (kind) {
        case Drift::Kind::changed:
            return "changed";
        case Drift::Kind::missing:
            return "missing";
        case Drift::Kind::stale:
            return "stale";
        case Drift::Kind::orphan:
            return "orphan";
        case Drift::Kind::foreign:
            return "foreign";
        case Drift::Kind::edited:
            return "edited";
        case Drift::Kind::unfinished:
            return "unfinished";
    }
    return "?";
}

bool is_mended_by_render(Drift::Kind kind) {
    return kind != Drift::Kind::foreign && kind != Drift::Kind::edited;
}

Result<std::vector<Drift>> compare_artifacts(const fs::path& out, const std::vector<Artifact>& artifacts) {
    const auto ours = owned_files(out);
    if (!ours.ok()) return ours.failure();
    const auto difference = difference_of(out, artifacts, *ours);
    if (!difference.ok()) return difference.failure();
    std::vector<Drift> drift;
    const auto there = [&](const fs::path& path) {
        auto content = file::read(out / path, kLargestIndex);
        return content.ok() ? std::move(content).value() : std::string();
    };
    for (const auto& [artifact, kind] : difference->files) {
        drift.push_back({kind, artifact->path.generic_string(),
                         kind == Drift::Kind::missing ? "" : there(artifact->path), artifact->content});
    }
    for (const auto& [files, kind] : {std::pair{&difference->stale, Drift::Kind::stale},
                                      std::pair{&difference->orphans, Drift::Kind::orphan}}) {
        for (const auto& [name, digest] : *files)
            drift.push_back(
                {difference->edited.count(name) != 0 ? Drift::Kind::edited : kind, name, there(name), {}});
    }
    std::sort(drift.begin(), drift.end(), [](const Drift& a, const Drift& b) { return a.path < b.path; });
    if (StagedTree::is_unfinished(out)) drift.push_back({Drift::Kind::unfinished, ".", {}, {}});
    return drift;
}

}  // namespace cudamatrix
