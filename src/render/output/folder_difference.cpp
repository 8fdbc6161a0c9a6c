#include "render/output/output_folder.hpp"

#include <system_error>
#include <utility>

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"

namespace cudamatrix {
namespace {

namespace fs = std::filesystem;

// "images/ID" of a path below it, else empty.
std::string image_folder_of(const fs::path& path) {
    auto part = path.begin();
    if (part == path.end() || *part != "images" || ++part == path.end()) return {};
    return "images/" + part->string();
}

Failure in_the_way(const fs::path& file, const fs::path& step) {
    std::error_code error;
    const bool link = fs::is_symlink(fs::symlink_status(step, error));
    return environment_failure(
        fmt::format("cannot write {}: {} is {}", text::printable(file.string()),
                    text::printable(step.string()), link ? "a symbolic link" : "no directory"),
        link ? "remove the link, or give another folder with --out"
             : "move it away, or give another folder with --out");
}

Status compare_files(const fs::path& out, const std::vector<Artifact>& artifacts, const OwnedFiles& ours,
                     Difference& difference) {
    Folders folders(out);
    std::error_code error;
    for (const auto& artifact : artifacts) {
        const auto& path = artifact.path;
        if (!is_inside(path))
            return environment_failure(
                fmt::format("{} is not inside the output folder", text::printable(path.string())));
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
// are gone are orphans, and with the last image all that is left: one wrong word in a matrix is no reason to
// take the output away.
Status compare_leftovers(const fs::path& out, const std::vector<Artifact>& artifacts, const OwnedFiles& ours,
                         const std::set<std::string>& left_alone, Difference& difference) {
    std::set<std::string> wanted;
    std::set<std::string> folders;
    for (const auto& artifact : artifacts) {
        wanted.insert(artifact.path.generic_string());
        folders.insert(image_folder_of(artifact.path));
    }
    const bool any_image = !folders.empty() && !folders.rbegin()->empty();
    Folders steps(out);
    for (const auto& [name, digest] : ours) {
        if (left_alone.count(image_folder_of(name)) != 0) {
            difference.left_alone.emplace(name, digest);
            continue;
        }
        if (wanted.count(name) != 0 || !steps.obstacle(fs::path(name).parent_path()).empty()) continue;
        std::error_code error;
        const auto path = out / name;
        if (!fs::is_regular_file(fs::symlink_status(path, error))) continue;
        CM_TRY_ASSIGN(const auto there, sha256_of_file(path));
        if (there != digest) difference.edited.insert(name);
        (any_image && folders.count(image_folder_of(name)) != 0 ? difference.stale : difference.orphans)
            .emplace(name, digest);
    }
    return Done{};
}

}  // namespace

const Folders::Seen& Folders::look(const fs::path& folder) {
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

Result<Difference> difference_of(const fs::path& out, const std::vector<Artifact>& artifacts,
                                 const OwnedFiles& ours, const std::set<std::string>& left_alone) {
    Difference difference;
    CM_TRY(compare_files(out, artifacts, ours, difference));
    CM_TRY(compare_leftovers(out, artifacts, ours, left_alone, difference));
    return difference;
}

}  // namespace cudamatrix
