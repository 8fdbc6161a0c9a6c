#include "render/output/output_folder.hpp"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/parallel.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"

namespace cudamatrix {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStage = ".cudamatrix-stage";
constexpr std::string_view kReady = ".cudamatrix-ready";
constexpr std::string_view kTree = "tree";
constexpr std::string_view kJournal = "journal";
constexpr std::uint64_t kLargestJournal = 256u << 20;
constexpr std::size_t kFilesOfAThread = 256;  // below that a thread costs more than it saves

Failure cannot(std::string_view what, const fs::path& path, const std::error_code& error) {
    return environment_failure(
        fmt::format("cannot {} {}: {}", what, text::printable(path.string()), error.message()));
}

void before(const Step& step) {
    if (step) step();
}

struct Journal {
    Expected replaces;
    Expected removes;
};

// A line for each file: what happens to it, the SHA-256 of what stands there, its path.
constexpr std::string_view kReplace = "replace ";
constexpr std::string_view kRemove = "remove ";

std::string journal_text(const Expected& replaces, const Expected& removes) {
    std::string all;
    for (const auto& [word, files] : {std::pair{kReplace, &replaces}, std::pair{kRemove, &removes}}) {
        for (const auto& [path, digest] : *files)
            all += fmt::format("{}{} {}\n", word, digest, path);
    }
    return all;
}

Result<Journal> read_journal(const fs::path& path) {
    CM_TRY_ASSIGN(const auto content, file::read(path, kLargestJournal));
    Journal journal;
    for (std::string_view rest = content; !rest.empty();) {
        const auto end = std::min(rest.find('\n'), rest.size());
        auto line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const auto word = line.starts_with(kReplace) ? kReplace : kRemove;
        if (!line.starts_with(word) || line.size() < word.size() + kSha256Digits + 2) {
            return environment_failure(
                fmt::format("{} cannot be read: it was not written by cudamatrix",
                            text::printable(path.string())),
                fmt::format("remove {} and render again", text::printable(path.parent_path().string())));
        }
        line.remove_prefix(word.size());
        if (!is_inside(line.substr(kSha256Digits + 1))) continue;
        (word == kReplace ? journal.replaces : journal.removes)
            .emplace(line.substr(kSha256Digits + 1), line.substr(0, kSha256Digits));
    }
    return journal;
}

// What is still staged below `from` takes its place below `to`. Repeating it goes on where it was killed.
Status move_all(const fs::path& from, const fs::path& to, const Step& step) {
    std::error_code error;
    std::vector<fs::path> names;
    for (fs::directory_iterator it(from, error), end; !error && it != end; it.increment(error))
        names.push_back(it->path().filename());
    if (error) return cannot("read", from, error);
    for (const auto& name : names) {
        const bool folder = fs::is_directory(fs::symlink_status(from / name, error));
        if (folder && fs::is_directory(fs::symlink_status(to / name, error))) {
            CM_TRY(move_all(from / name, to / name, step));
            continue;
        }
        before(step);
        fs::rename(from / name, to / name, error);
        if (error) return cannot("write", to / name, error);
    }
    return Done{};
}

// `path` goes, and after it the folders that are empty then.
Status remove_one(const fs::path& folder, const fs::path& path, const Step& step) {
    std::error_code error;
    before(step);
    fs::remove(folder / path, error);
    if (error) return cannot("remove", folder / path, error);
    for (auto parent = path.parent_path(); !parent.empty(); parent = parent.parent_path()) {
        if (!fs::remove(folder / parent, error) || error) break;  // not empty
    }
    return Done{};
}

Status finish(const fs::path& folder, const Expected& removes, const Step& step) {
    CM_TRY(move_all(folder / kReady / kTree, folder, step));
    for (const auto& [path, digest] : removes) {
        CM_TRY(remove_one(folder, path, step));
    }
    // Back to what is rubbish by its name, so that removing it may be interrupted.
    std::error_code error;
    before(step);
    fs::rename(folder / kReady, folder / kStage, error);
    if (error) return cannot("remove", folder / kReady, error);
    before(step);
    fs::remove_all(folder / kStage, error);
    if (error) return cannot("remove", folder / kStage, error);
    return Done{};
}

// Between the kill and now somebody may have come: only what the change expected is touched.
Status check_unchanged(const fs::path& folder, const Journal& journal) {
    std::error_code error;
    const auto check = [&](const fs::path& path, const std::string& expected) -> Status {
        const auto status = fs::symlink_status(folder / path, error);
        if (!fs::exists(status)) return Done{};
        const auto there =
            fs::is_regular_file(status) ? sha256_of_file(folder / path) : Result<std::string>(std::string());
        if (!there.ok()) return there.failure();
        if (*there == expected && !expected.empty()) return Done{};
        return environment_failure(
            fmt::format("{} was changed while a render that was interrupted had yet to replace it",
                        text::printable((folder / path).string())),
            "move it away, then render again");
    };
    const auto tree = folder / kReady / kTree;
    for (fs::recursive_directory_iterator it(tree, error), end; !error && it != end; it.increment(error)) {
        if (fs::is_directory(it->symlink_status(error))) continue;
        const auto path = it->path().lexically_relative(tree);
        const auto known = journal.replaces.find(path.generic_string());
        CM_TRY(check(path, known == journal.replaces.end() ? "" : known->second));
    }
    if (error) return cannot("read", tree, error);
    for (const auto& [path, digest] : journal.removes) {
        CM_TRY(check(path, digest));
    }
    return Done{};
}

}  // namespace

bool is_inside(const fs::path& path) {
    return !path.empty() && path.is_relative() && std::ranges::none_of(path, [](const fs::path& part) {
        return part.empty() || part == "." || part == "..";
    });
}

StagedTree::StagedTree(fs::path folder, Step step) : folder_(std::move(folder)), step_(std::move(step)) {}

Status StagedTree::put(const std::vector<File>& files) {
    // Whoever watches the steps wants them one after the other.
    const auto least = step_ ? files.size() : kFilesOfAThread;
    return parallel_for(files.size(), least, [&](std::size_t begin, std::size_t end) -> Status {
        fs::path made;
        for (auto i = begin; i < end; ++i) {
            const auto target = folder_ / kStage / kTree / files[i].path;
            if (auto parent = target.parent_path(); parent != made) {
                before(step_);
                CM_TRY(file::make_directories(parent));
                made = std::move(parent);
            }
            before(step_);
            CM_TRY(file::create(target, files[i].content));
        }
        return Done{};
    });
}

Status StagedTree::commit(const Expected& replaces, const Expected& removes) {
    before(step_);
    CM_TRY(file::make_directories(folder_ / kStage / kTree));
    before(step_);
    CM_TRY(file::create(folder_ / kStage / kJournal, journal_text(replaces, removes)));
    before(step_);
    std::error_code error;
    fs::rename(folder_ / kStage, folder_ / kReady, error);
    if (error) return cannot("write", folder_ / kReady, error);
    return finish(folder_, removes, step_);
}

bool StagedTree::is_unfinished(const fs::path& folder) {
    std::error_code error;
    return fs::exists(fs::symlink_status(folder / kReady, error));
}

Status StagedTree::recover(const fs::path& folder, const Step& step) {
    std::error_code error;
    if (fs::exists(fs::symlink_status(folder / kStage, error))) {
        before(step);
        fs::remove_all(folder / kStage, error);
        if (error) return cannot("remove", folder / kStage, error);
    }
    if (!is_unfinished(folder)) return Done{};
    CM_TRY_ASSIGN(const auto journal, read_journal(folder / kReady / kJournal));
    CM_TRY(check_unchanged(folder, journal));
    return finish(folder, journal.removes, step);
}

}  // namespace cudamatrix
