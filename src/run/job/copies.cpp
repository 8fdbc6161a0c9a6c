#include "run/job/copies.hpp"

#include <algorithm>
#include <system_error>

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"

namespace cudamatrix::job {
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

bool is_staged(const fs::path& folder) {
    std::error_code error;
    return fs::is_directory(fs::symlink_status(folder, error)) &&
           fs::is_regular_file(fs::symlink_status(folder / kMarker, error));
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
