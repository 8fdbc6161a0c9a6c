#include "render/output_folder.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

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

// Relative, and made of plain names only.
bool is_inside(const fs::path& path) {
    return !path.empty() && path.is_relative() &&
           std::none_of(path.begin(), path.end(),
                        [](const fs::path& part) { return part.empty() || part == "." || part == ".."; });
}

// The files that earlier runs wrote, by the list in `path`. Paths that no render gives are left out: a list
// that somebody edited must not make us delete what lies elsewhere.
Result<Files> files_listed_in(const fs::path& path) {
    Files files;
    std::error_code error;
    const auto status = fs::symlink_status(path, error);
    const auto foreign = [&](std::string_view why) {
        return environment_failure(
            fmt::format("{} was not written by cudamatrix ({}): the folder is left alone", shown(path),
                        text::printable(why)),
            "give another folder with --out, or remove that file");
    };
    if (!fs::is_regular_file(status)) return foreign("it is no regular file");
    const auto content = file::read(path, kLargestIndex);
    if (!content.ok()) return content.failure();
    const auto json = parse_json(*content, path.filename().string());
    if (!json.ok()) return foreign(json.failure().diagnostics.front().message);
    if (string_or(*json, "tool") != "cudamatrix" || !json->contains("files") || !(*json)["files"].is_object())
        return foreign("it lists no files");
    for (const auto& [name, digest] : (*json)["files"].items()) {
        if (is_inside(name) && digest.is_string()) files[name] = digest.get<std::string>();
    }
    return files;
}

Result<Files> owned_files(const fs::path& out) {
    std::error_code error;
    for (const auto name : {kOwnedFile, kIndexFile}) {
        if (fs::exists(fs::symlink_status(out / name, error))) return files_listed_in(out / name);
    }
    return Files{};
}

std::string owned_text(const std::vector<Artifact>& artifacts, const Files& orphans) {
    Files all = orphans;
    for (const auto& [path, content] : artifacts)
        all[path.generic_string()] = sha256(content);
    Json files = Json::object();
    for (const auto& [name, digest] : all)
        files[name] = digest;
    return to_text(Json{{"tool", "cudamatrix"}, {"files", std::move(files)}}) + "\n";
}

// The first step on the way to `out / path` that is a symbolic link, empty when none is.
fs::path link_on_the_way(const fs::path& out, const fs::path& path) {
    std::error_code error;
    auto at = out;
    for (const auto& part : path) {
        at /= part;
        const auto status = fs::symlink_status(at, error);
        if (fs::is_symlink(status)) return at;
        if (!fs::exists(status)) return {};
    }
    return {};
}

// Refuses what must not be written over; nothing has been touched so far.
Status check_targets(const fs::path& out, const std::vector<Artifact>& artifacts, const Files& ours) {
    for (const auto& [path, content] : artifacts) {
        if (!is_inside(path))
            return environment_failure(fmt::format("{} does not lie inside the output folder", shown(path)));
        if (const auto link = link_on_the_way(out, path); !link.empty()) {
            return environment_failure(
                fmt::format("cannot write {}: {} is a symbolic link", shown(out / path), shown(link)),
                "remove the link, or give another folder with --out");
        }
        std::error_code error;
        const auto status = fs::symlink_status(out / path, error);
        if (!fs::exists(status) || ours.count(path.generic_string()) != 0) continue;
        const auto there =
            fs::is_regular_file(status) ? sha256_of_file(out / path) : Result<std::string>(std::string());
        if (!there.ok() || *there != sha256(content)) {
            return environment_failure(
                fmt::format("cannot write {}: it is there already, and cudamatrix did not write it",
                            shown(out / path)),
                "move it away, or give another folder with --out");
        }
    }
    return Done{};
}

// "images/ID" of a path below it, else empty.
std::string image_folder_of(const fs::path& path) {
    auto part = path.begin();
    if (part == path.end() || *part != "images" || ++part == path.end()) return {};
    return "images/" + part->string();
}

// Files that an image no longer has would still reach its builds: they go. Whole images that are gone are
// only told. Gives those with their hashes.
Result<Files> remove_stale(const fs::path& out, const std::vector<Artifact>& artifacts, const Files& ours,
                           Written& written) {
    Files orphans;
    std::set<std::string> wanted;
    std::set<std::string> folders;
    for (const auto& artifact : artifacts) {
        wanted.insert(artifact.path.generic_string());
        folders.insert(image_folder_of(artifact.path));
    }
    for (const auto& [name, digest] : ours) {
        std::error_code error;
        const auto path = out / name;
        if (wanted.count(name) != 0 || !fs::is_regular_file(fs::symlink_status(path, error))) continue;
        const auto folder = image_folder_of(name);
        if (folder.empty() || folders.count(folder) == 0 || !link_on_the_way(out, name).empty()) {
            written.orphans.push_back(name);
            orphans[name] = digest;
            continue;
        }
        const auto there = sha256_of_file(path);
        if (!there.ok()) return there.failure();
        if (*there != digest) {
            return environment_failure(
                fmt::format("{} is no longer rendered, but it was changed by hand", shown(path)),
                "move it away");
        }
        if (!fs::remove(path, error) || error)
            return environment_failure(fmt::format("cannot remove {}: {}", shown(path), error.message()));
        ++written.removed;
    }
    return orphans;
}

Status write_one(const fs::path& out, const Artifact& artifact, Written& written) {
    const auto path = out / artifact.path;
    if (auto made = file::make_directories(path.parent_path()); !made.ok()) return made;
    const auto changed = file::write(path, artifact.content);
    if (!changed.ok()) return changed.failure();
    ++(*changed ? written.changed : written.unchanged);
    return Done{};
}

}  // namespace

Result<Written> write_artifacts(const fs::path& out, const std::vector<Artifact>& artifacts) {
    const auto ours = owned_files(out);
    if (!ours.ok()) return ours.failure();
    if (auto done = check_targets(out, artifacts, *ours); !done.ok()) return done.failure();

    Written written;
    const auto orphans = remove_stale(out, artifacts, *ours, written);
    if (!orphans.ok()) return orphans.failure();
    // The list goes first: whatever interrupts us, it names every file of ours that is there.
    if (auto made = file::make_directories(out); !made.ok()) return made.failure();
    if (auto listed = file::write(out / kOwnedFile, owned_text(artifacts, *orphans)); !listed.ok())
        return listed.failure();
    for (const auto& artifact : artifacts) {
        if (auto done = write_one(out, artifact, written); !done.ok()) return done.failure();
    }
    return written;
}

}  // namespace cudamatrix
