#include "run/job/folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "render/output/output_folder.hpp"
#include "run/job/copies.hpp"

namespace cudamatrix::job {

Result<FolderLock> FolderLock::take(const std::filesystem::path& folder) {
    CM_TRY(file::make_directories(folder));
    const auto name = text::printable(folder.string());
    // The folder itself is what is locked: no file is left behind.
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return environment_failure(
            fmt::format("cannot open {}: {}", name, std::generic_category().message(errno)));
    }
    FolderLock lock(fd);
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            return environment_failure(fmt::format("another cudamatrix is at work in {}", name),
                                       "wait for its end, or take another --out folder");
        }
        return environment_failure(
            fmt::format("cannot lock {}: {}", name, std::generic_category().message(errno)));
    }
    return lock;
}

FolderLock::~FolderLock() {
    if (fd_ >= 0) ::close(fd_);
}

namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
    std::error_code error;
    return fs::is_directory(fs::symlink_status(path, error));
}

bool is_file(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(fs::symlink_status(path, error));
}

// Ids of images whose files went, or whose folder is there although the plan has no such image.
Result<std::set<std::string>> gone(const fs::path& out, const std::vector<std::string>& images,
                                   const std::vector<std::string>& pruned) {
    std::set<std::string> ids;
    for (const auto& file : pruned) {
        const auto parts = text::split(file, '/');
        if (parts.size() > 2 && parts[0] == "images") ids.insert(parts[1]);
    }
    std::error_code error;
    if (is_folder(out / "images")) {
        for (fs::directory_iterator at(out / "images", error), end; !error && at != end;
             at.increment(error)) {
            if (is_folder(at->path())) ids.insert(at->path().filename().string());
        }
    }
    if (error)
        return environment_failure(
            fmt::format("cannot read {}: {}", (out / "images").string(), error.message()));
    for (const auto& id : images)
        ids.erase(id);
    return ids;
}

class Cleaner {
  public:
    explicit Cleaner(const fs::path& out) : out_(out) {}

    Status clean(const std::string& id, bool was_rendered) {
        const auto folder = out_ / "images" / id;
        if (!was_rendered && !is_file(folder / kOwnedFile)) return Done{};
        if (is_folder(folder)) {
            CM_TRY(clean_context(folder));
        }
        for (const auto& name : {"build-" + id, "build-" + id + "-proof", "lock-" + id, "host-" + id}) {
            CM_TRY(remove(out_ / "logs" / (name + ".log")));
        }
        return Done{};
    }

    Leftovers take() { return std::move(leftovers_); }

  private:
    Status clean_context(const fs::path& folder) {
        for (const auto& tar : bootstraps(folder)) {
            CM_TRY(remove(tar));
        }
        CM_TRY_ASSIGN(const auto copied, remove_copies(folder));
        leftovers_.removed += copied;
        // Last, because the list is what tells that the folder is one of ours.
        CM_TRY_ASSIGN(auto cleared, clear_artifacts(folder));
        leftovers_.removed += cleared.removed;
        for (const auto& name : cleared.kept)
            leftovers_.kept.push_back((folder / name).lexically_relative(out_).generic_string());
        std::error_code not_empty;
        fs::remove(folder, not_empty);
        return Done{};
    }

    // A tar is ours where it is the one that all contexts share, by a link or as a copy.
    [[nodiscard]] std::vector<fs::path> bootstraps(const fs::path& folder) const {
        std::vector<fs::path> out;
        std::error_code error;
        for (fs::directory_iterator at(out_ / "bootstrap", error), end; !error && at != end;
             at.increment(error)) {
            const auto tar = folder / at->path().filename();
            if (!is_file(at->path()) || !is_file(tar)) continue;
            if (fs::equivalent(at->path(), tar, error) || same_content(at->path(), tar)) out.push_back(tar);
        }
        return out;
    }

    static bool same_content(const fs::path& a, const fs::path& b) {
        std::error_code error;
        if (fs::file_size(a, error) != fs::file_size(b, error)) return false;
        const auto first = sha256_of_file(a);
        const auto second = sha256_of_file(b);
        return first.ok() && second.ok() && *first == *second;
    }

    Status remove(const fs::path& file) {
        if (!is_file(file)) return Done{};
        std::error_code error;
        fs::remove(file, error);
        if (error)
            return environment_failure(fmt::format("cannot remove {}: {}", file.string(), error.message()));
        ++leftovers_.removed;
        return Done{};
    }

    const fs::path& out_;
    Leftovers leftovers_;
};

}  // namespace

Result<Leftovers> remove_leftovers(const fs::path& out, const std::vector<std::string>& images,
                                   const std::vector<std::string>& pruned) {
    CM_TRY_ASSIGN(const auto ids, gone(out, images, pruned));
    Cleaner cleaner(out);
    for (const auto& id : ids) {
        const auto prefix = "images/" + id + "/";
        const bool was_rendered =
            std::ranges::any_of(pruned, [&](const std::string& file) { return file.starts_with(prefix); });
        CM_TRY(cleaner.clean(id, was_rendered));
    }
    return cleaner.take();
}

}  // namespace cudamatrix::job
