#include "render/output/output_folder.hpp"

#include <algorithm>
#include <array>
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

// Refuses what must not be written over or removed; nothing has been touched so far.
Status check_allowed(const fs::path& out, const Difference& difference, bool prune) {
    for (const auto& [artifact, kind] : difference.files) {
        if (kind != Drift::Kind::foreign) continue;
        return environment_failure(
            fmt::format("cannot write {}: it is there already, and cudamatrix did not write it",
                        text::printable((out / artifact->path).string())),
            "move it away, or give another folder with --out");
    }
    for (const auto& name : difference.edited) {
        if (!prune && difference.orphans.count(name) != 0) continue;
        return environment_failure(fmt::format("{} is no longer rendered, but it was changed by hand",
                                               text::printable((out / name).string())),
                                   "move it away");
    }
    return Done{};
}

Status change_folder(const fs::path& out, const Difference& difference, const OwnedFiles& removes,
                     const std::string& list, const WriteOptions& options) {
    CM_TRY(file::make_directories(out));
    StagedTree staged(out, options.step);
    Expected replaces;
    const auto expect = [&](const fs::path& path) -> Status {
        CM_TRY_ASSIGN(auto there, sha256_of_file(out / path));
        replaces.emplace(path.generic_string(), std::move(there));
        return Done{};
    };
    std::vector<StagedTree::File> files;
    for (const auto& [artifact, kind] : difference.files) {
        if (kind == Drift::Kind::changed) {
            CM_TRY(expect(artifact->path));
        }
        files.push_back({artifact->path, artifact->content});
    }
    if (const auto there = file::compare(out / options.list, list); there != file::Compared::same) {
        if (there != file::Compared::missing) {
            CM_TRY(expect(options.list));
        }
        files.push_back({options.list, list});
    }
    CM_TRY(staged.put(files));
    return staged.commit(replaces, removes);
}

}  // namespace

Status recover_output(const fs::path& out) {
    return StagedTree::recover(out);
}

Result<Written> write_artifacts(const fs::path& out, const std::vector<Artifact>& artifacts,
                                const WriteOptions& options) {
    CM_TRY(StagedTree::recover(out, options.step));
    CM_TRY_ASSIGN(const auto ours, owned_files(out, options.list));
    CM_TRY_ASSIGN(auto difference, difference_of(out, artifacts, ours, options.left_alone));
    CM_TRY(check_allowed(out, difference, options.prune));

    Written written;
    auto removes = difference.stale;
    if (options.prune) {
        for (const auto& [name, digest] : difference.orphans)
            written.pruned.push_back(name);
        removes.merge(std::exchange(difference.orphans, {}));
    }
    written.changed = difference.files.size();
    written.unchanged = difference.unchanged;
    written.removed = removes.size();
    for (const auto& [name, digest] : difference.orphans)
        written.orphans.push_back(name);
    auto kept = difference.orphans;
    kept.merge(std::exchange(difference.left_alone, {}));
    const auto list = owned_text(artifacts, kept, options.list);
    if (difference.files.empty() && removes.empty() &&
        file::compare(out / options.list, list) == file::Compared::same) {
        return written;
    }
    CM_TRY(change_folder(out, difference, removes, list, options));
    return written;
}

Result<Cleared> clear_artifacts(const fs::path& out) {
    CM_TRY(StagedTree::recover(out));
    CM_TRY_ASSIGN(const auto ours, owned_files(out));
    Cleared cleared;
    Folders folders(out);
    std::set<fs::path> left;
    for (const auto& [name, digest] : ours) {
        const auto path = out / name;
        std::error_code error;
        if (!folders.obstacle(fs::path(name).parent_path()).empty()) continue;
        if (!fs::is_regular_file(fs::symlink_status(path, error))) continue;
        CM_TRY_ASSIGN(const auto there, sha256_of_file(path));
        if (there != digest) {
            cleared.kept.push_back(name);
            continue;
        }
        fs::remove(path, error);
        if (error)
            return environment_failure(
                fmt::format("cannot remove {}: {}", text::printable(path.string()), error.message()));
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
    return std::array{
        "changed", "missing", "stale", "orphan", "foreign", "edited", "unfinished"}[static_cast<std::size_t>(
        kind)];
}

bool is_fixed_by_render(Drift::Kind kind) {
    return kind != Drift::Kind::foreign && kind != Drift::Kind::edited;
}

Result<std::vector<Drift>> compare_artifacts(const fs::path& out, const std::vector<Artifact>& artifacts,
                                             const std::set<std::string>& left_alone, std::string_view list) {
    CM_TRY_ASSIGN(const auto ours, owned_files(out, list));
    CM_TRY_ASSIGN(const auto difference, difference_of(out, artifacts, ours, left_alone));
    std::vector<Drift> drift;
    const auto there = [&](const fs::path& path) {
        auto content = file::read(out / path, kLargestIndex);
        return content.ok() ? std::move(content).value() : std::string();
    };
    for (const auto& [artifact, kind] : difference.files) {
        drift.push_back({kind, artifact->path.generic_string(),
                         kind == Drift::Kind::missing ? "" : there(artifact->path), artifact->content});
    }
    for (const auto& [files, kind] : {std::pair{&difference.stale, Drift::Kind::stale},
                                      std::pair{&difference.orphans, Drift::Kind::orphan}}) {
        for (const auto& [name, digest] : *files)
            drift.push_back(
                {difference.edited.count(name) != 0 ? Drift::Kind::edited : kind, name, there(name), {}});
    }
    std::ranges::sort(drift, [](const Drift& a, const Drift& b) { return a.path < b.path; });
    if (StagedTree::is_unfinished(out)) drift.push_back({Drift::Kind::unfinished, ".", {}, {}});
    return drift;
}

namespace {

namespace fs = std::filesystem;

// The list is what sha256sum --check reads.
constexpr std::string_view kListHead = "# Files written by cudamatrix. Compare: sha256sum --check --quiet ";

// The files that earlier runs wrote, by the list in `path`. Paths that no render gives are left out: a list
// that somebody edited must not make us delete what lies elsewhere.
std::optional<OwnedFiles> files_of_list(std::string_view content) {
    OwnedFiles files;
    if (!content.starts_with(kListHead)) return std::nullopt;
    while (!content.empty()) {
        const auto end = std::min(content.find('\n'), content.size());
        const auto line = content.substr(0, end);
        content.remove_prefix(std::min(end + 1, content.size()));
        if (line.starts_with('#')) continue;
        if (line.size() < kSha256Digits + 3 || line.substr(kSha256Digits, 2) != "  ") return std::nullopt;
        const auto name = line.substr(kSha256Digits + 2);
        if (is_inside(name)) files.emplace(name, line.substr(0, kSha256Digits));
    }
    return files;
}

std::optional<OwnedFiles> files_of_index(std::string_view content) {
    OwnedFiles files;
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

}  // namespace

Result<OwnedFiles> owned_files(const fs::path& out, std::string_view list) {
    std::error_code error;
    for (const auto name : {list, kIndexFile}) {
        if (name == kIndexFile && list != kOwnedFile) break;
        const auto path = out / name;
        const auto status = fs::symlink_status(path, error);
        if (!fs::exists(status)) continue;
        std::optional<OwnedFiles> files;
        if (fs::is_regular_file(status)) {
            CM_TRY_ASSIGN(const auto content, file::read(path, kLargestIndex));
            files = files_of_list(content);
            if (!files) files = files_of_index(content);
        }
        if (files) return std::move(*files);
        return environment_failure(fmt::format("{} was not written by cudamatrix: the folder is left alone",
                                               text::printable(path.string())),
                                   "give another folder with --out, or remove that file");
    }
    return OwnedFiles{};
}

std::string owned_text(const std::vector<Artifact>& artifacts, const OwnedFiles& orphans,
                       std::string_view list) {
    OwnedFiles all = orphans;
    for (const auto& artifact : artifacts)
        all[artifact.path.generic_string()] =
            artifact.sha256.empty() ? sha256(artifact.content) : artifact.sha256;
    std::string out = fmt::format("{}{}\n", kListHead, list);
    for (const auto& [name, digest] : all)
        out += fmt::format("{}  {}\n", digest, name);
    return out;
}

}  // namespace cudamatrix
