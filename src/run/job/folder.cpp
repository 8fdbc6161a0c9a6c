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

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 100'000;
constexpr std::string_view kMarker = ".made-by-cudamatrix";  // beside the copied things, in no image

Failure refused(const Copy& copy, std::string_view why, std::string fix = {}) {
    return Failure{ExitCode::bad_input,
                   {Diagnostic::error(fmt::format("copy: {}: {}", copy.from, why), copy.where)
                        .with_fix(std::move(fix))}};
}

// The first step of a relative path below `base` that is a symbolic link.
fs::path link_on_the_way(fs::path base, const fs::path& path) {
    std::error_code error;
    for (const auto& step : path) {
        base /= step;
        if (fs::is_symlink(fs::symlink_status(base, error))) return base;
    }
    return {};
}

bool is_below(const fs::path& inner, const fs::path& outer) {
    const auto relative = inner.lexically_relative(outer);
    return !relative.empty() && *relative.begin() != "..";
}

Status add_folder(const Copy& copy, const fs::path& root, const fs::path& target, Copies& out) {
    std::error_code error;
    for (auto at = fs::recursive_directory_iterator(root, error);
         !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
        const auto& path = at->path();
        const auto status = at->symlink_status(error);
        const auto name = text::printable(path.lexically_relative(root).string());
        if (fs::is_symlink(status))
            return refused(copy, fmt::format("{} in it is a symbolic link", name), "copy what it leads to");
        if (fs::is_directory(status)) continue;
        if (!fs::is_regular_file(status))
            return refused(copy, fmt::format("{} in it is neither a file nor a folder", name));
        if (out.files.size() == kMostFiles)
            return refused(copy, fmt::format("more than {} files", kMostFiles),
                           "mount it as a volume of a service");
        out.files.push_back({path, target / path.lexically_relative(root)});
    }
    if (error) return environment_failure(fmt::format("cannot read {}: {}", root.string(), error.message()));
    return Done{};
}

Status add(const Matrix& matrix, const Copy& copy, const fs::path& out_folder, Copies& out) {
    const auto base = fs::path(matrix.path).parent_path();
    const auto root = base / copy.from;
    const auto target = fs::path(kCopyFolder) / copy.from;
    if (const auto link = link_on_the_way(base, copy.from); !link.empty())
        return refused(copy, fmt::format("{} is a symbolic link", text::printable(link.string())),
                       "name what it leads to");
    std::error_code error;
    const auto status = fs::symlink_status(root, error);
    if (!fs::exists(status))
        return refused(copy, fmt::format("no such file or folder next to {}", matrix.path),
                       "create it, or correct the name");
    if (fs::is_regular_file(status)) {
        out.files.push_back({root, target});
        return Done{};
    }
    if (!fs::is_directory(status)) return refused(copy, "it is neither a file nor a folder");
    if (is_below(fs::weakly_canonical(fs::absolute(out_folder, error), error), fs::canonical(root, error)))
        return refused(copy, fmt::format("it contains the output folder {}", out_folder.string()),
                       "choose another one with --out");
    const auto before = out.files.size();
    CM_TRY(add_folder(copy, root, target, out));
    if (out.files.size() == before) return refused(copy, "it contains no files", "delete the entry of copy");
    return Done{};
}

bool is_executable(const fs::path& path) {
    std::error_code error;
    return (fs::status(path, error).permissions() & fs::perms::owner_exec) != fs::perms::none;
}

// Copying one thing to two places names its files twice.
void sort_files(std::vector<Copies::File>& files) {
    std::ranges::sort(
        files, [](const auto& a, const auto& b) { return a.to.generic_string() < b.to.generic_string(); });
    files.erase(
        std::unique(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.to == b.to; }),
        files.end());
}

// Ours is what has the marker, and what holds nothing else than a marker that was not finished.
bool is_staged(const fs::path& folder) {
    std::error_code error;
    if (!fs::is_directory(fs::symlink_status(folder, error))) return false;
    if (fs::is_regular_file(fs::symlink_status(folder / kMarker, error))) return true;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        if (!at->path().filename().native().starts_with(kMarker)) return false;
    }
    return !error;
}

}  // namespace

Result<Copies> find_copies(const Matrix& matrix, const Image& image, const fs::path& out) {
    Copies copies;
    for (const auto& copy : image.copy) {
        CM_TRY(add(matrix, copy, out, copies));
    }
    if (copies.files.empty()) return copies;
    sort_files(copies.files);
    Sha256 digest;
    for (const auto& [from, to] : copies.files) {
        CM_TRY_ASSIGN(const auto content, sha256_of_file(from));
        digest.update(
            fmt::format("{} {} {}\n", content, is_executable(from) ? "x" : "-", to.generic_string()));
    }
    copies.hash = digest.hex();
    return copies;
}

Status stage_copies(const Copies& copies, const fs::path& context) {
    const auto folder = context / kCopyFolder;
    std::error_code error;
    const auto status = fs::symlink_status(folder, error);
    if (fs::exists(status)) {
        if (!is_staged(folder)) {
            return environment_failure(
                fmt::format("{} is there already, and no build of cudamatrix made it", folder.string()),
                "move it away");
        }
        CM_TRY(remove_copies(context));
    }
    if (copies.files.empty()) return Done{};
    CM_TRY(file::make_directories(folder));
    CM_TRY(
        file::write(folder / kMarker, "cudamatrix puts the files of images: here, anew for each build.\n"));
    for (const auto& [from, to] : copies.files) {
        CM_TRY(file::make_directories((context / to).parent_path()));
        CM_TRY(file::link_or_copy(from, context / to));
    }
    return Done{};
}

Result<std::size_t> remove_copies(const fs::path& context) {
    const auto folder = context / kCopyFolder;
    if (!is_staged(folder)) return std::size_t{0};
    std::size_t files = 0;
    std::error_code error;
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        if (!at->is_directory(error)) ++files;
    }
    if (!error) fs::remove_all(folder, error);
    if (error)
        return environment_failure(fmt::format("cannot remove {}: {}", folder.string(), error.message()));
    return files;
}

}  // namespace cudamatrix::job
