#include "render/output/output_folder.hpp"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/parallel.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "render/output/staged_journal.hpp"

namespace cudamatrix {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStage = ".cudamatrix-stage";
constexpr std::string_view kReady = ".cudamatrix-ready";
constexpr std::string_view kTree = "tree";  // what is new
constexpr std::string_view kOld = "old";    // what it replaces and removes, until all of it has its place
constexpr std::string_view kJournal = "journal";
constexpr std::size_t kFilesOfAThread = 256;  // below that a thread costs more than it saves
constexpr std::size_t kMostNamed = 20;

Failure cannot(std::string_view what, const fs::path& path, const std::error_code& error) {
    return environment_failure(
        fmt::format("cannot {} {}: {}", what, text::printable(path.string()), error.message()));
}

void before(const Step& step) {
    if (step) step();
}

// What has happened so far, in the order in which it did.
struct Moved {
    enum class Kind { added, replaced, removed };
    Kind kind = Kind::added;
    fs::path path;  // relative to the folder: a file, or a whole folder that was not there
};
using Log = std::vector<Moved>;

// What is still staged below `inside` takes its place. Repeating it goes on where it was killed.
Status move_all(const fs::path& folder, const fs::path& inside, const Step& step, Log& done) {
    const auto from = folder / kReady / kTree / inside;
    std::error_code error;
    std::vector<fs::path> names;
    for (fs::directory_iterator it(from, error), end; !error && it != end; it.increment(error))
        names.push_back(it->path().filename());
    if (error) return cannot("read", from, error);
    for (const auto& name : names) {
        const auto path = inside / name;
        const auto there = fs::symlink_status(folder / path, error);
        if (fs::is_directory(there) && fs::is_directory(fs::symlink_status(from / name, error))) {
            CM_TRY(move_all(folder, path, step, done));
            continue;
        }
        before(step);
        fs::rename(from / name, folder / path, error);
        if (error) return cannot("write", folder / path, error);
        done.push_back({fs::exists(there) ? Moved::Kind::replaced : Moved::Kind::added, path});
    }
    return Done{};
}

// `path` goes, and after it the folders that are empty then.
Status remove_one(const fs::path& folder, const fs::path& path, const Step& step, Log& done) {
    const auto kept = folder / kReady / kOld / path;
    before(step);
    CM_TRY(file::make_directories(kept.parent_path()));
    std::error_code error;
    before(step);
    fs::rename(folder / path, kept, error);
    if (error && error != std::errc::no_such_file_or_directory) return cannot("remove", folder / path, error);
    if (!error) done.push_back({Moved::Kind::removed, path});
    for (auto parent = path.parent_path(); !parent.empty(); parent = parent.parent_path()) {
        if (!fs::remove(folder / parent, error) || error) break;  // not empty
    }
    return Done{};
}

// The change, all of which may have happened already. At its end what is left is rubbish by its name.
Status carry_out(const fs::path& folder, const Expected& removes, const Step& step, Log& done) {
    CM_TRY(move_all(folder, {}, step, done));
    for (const auto& [path, digest] : removes) {
        CM_TRY(remove_one(folder, path, step, done));
    }
    std::error_code error;
    before(step);
    fs::rename(folder / kReady, folder / kStage, error);
    if (error) return cannot("remove", folder / kReady, error);
    return Done{};
}

Status discard(const fs::path& folder, const Step& step) {
    std::error_code error;
    before(step);
    fs::remove_all(folder / kStage, error);
    if (error) return cannot("remove", folder / kStage, error);
    return Done{};
}

// One step back. At each moment both the old file and the new one are there, so that a process that dies here
// leaves what the next command can finish.
Status put_back(const fs::path& folder, const Moved& moved, const Step& step) {
    const auto place = folder / moved.path;
    const auto staged = folder / kReady / kTree / moved.path;
    const bool added = moved.kind == Moved::Kind::added;
    before(step);
    if (moved.kind == Moved::Kind::replaced) CM_TRY(file::link_or_copy(place, staged));
    if (moved.kind == Moved::Kind::removed) CM_TRY(file::make_directories(place.parent_path()));
    std::error_code error;
    before(step);
    fs::rename(added ? place : folder / kReady / kOld / moved.path, added ? staged : place, error);
    if (error) return cannot("put back", place, error);
    return Done{};
}

std::string not_put_back(const fs::path& folder, const Moved& moved) {
    const auto name = text::printable((folder / moved.path).string());
    if (moved.kind == Moved::Kind::added) return name + " is new and was not taken away";
    return fmt::format("{} {}; the old one is {}", name,
                       moved.kind == Moved::Kind::removed ? "is gone" : "is the new one",
                       text::printable((folder / kReady / kOld / moved.path).string()));
}

Failure with_note(Failure why, std::string note) {
    why.diagnostics.front().notes.push_back(std::move(note));
    return why;
}

std::string untouched(const fs::path& folder) {
    return text::printable(folder.string()) + " is as it was before";
}

// The change met `why`: the old tree comes back, and what cannot is said.
Failure take_back(const fs::path& folder, const Log& done, Failure why, const Step& step) {
    auto& said = why.diagnostics.front();
    const auto name = text::printable(folder.string());
    std::size_t left = 0;
    for (auto moved = done.rbegin(); moved != done.rend(); ++moved) {
        if (put_back(folder, *moved, step).ok()) continue;
        if (++left <= kMostNamed) said.notes.push_back(not_put_back(folder, *moved));
    }
    if (left > kMostNamed) said.notes.push_back(fmt::format("and {} more", left - kMostNamed));
    said.fix = "make it possible to write there, then run the command again";
    if (left != 0) {
        said.message +=
            fmt::format("; {} of {} changes of {} could not be taken back", left, done.size(), name);
        said.fix += ": it finishes the change";
        return why;
    }
    said.notes.push_back(untouched(folder));
    std::error_code error;
    before(step);
    fs::rename(folder / kReady, folder / kStage, error);
    if (error) {
        said.notes.push_back(fmt::format("{} holds the change still: the next command makes it",
                                         text::printable((folder / kReady).string())));
    }
    return why;
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
        // It is the new one already, where taking that back was interrupted, too.
        const auto staged = sha256_of_file(folder / kReady / kTree / path);
        if (staged.ok() && *there == *staged) return Done{};
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
    auto done = parallel_for(files.size(), least, [&](std::size_t begin, std::size_t end) -> Status {
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
    return done.ok() ? std::move(done) : with_note(std::move(done).failure(), untouched(folder_));
}

// Nothing is staged any more, or it is rubbish.
StagedTree::~StagedTree() {
    std::error_code ignored;
    fs::remove_all(folder_ / kStage, ignored);
}

// All that can fail before the moment, and the moment.
Status StagedTree::begin(const Expected& replaces, const Expected& removes) {
    before(step_);
    CM_TRY(file::make_directories(folder_ / kStage / kTree));
    for (const auto& [path, digest] : replaces) {
        const auto kept = folder_ / kStage / kOld / path;
        before(step_);
        CM_TRY(file::make_directories(kept.parent_path()));
        before(step_);
        CM_TRY(file::link_or_copy(folder_ / path, kept));
    }
    before(step_);
    CM_TRY(file::create(folder_ / kStage / kJournal, journal_text(replaces, removes)));
    before(step_);
    std::error_code error;
    fs::rename(folder_ / kStage, folder_ / kReady, error);
    if (error) return cannot("write", folder_ / kReady, error);
    return Done{};
}

Status StagedTree::commit(const Expected& replaces, const Expected& removes) {
    if (auto begun = begin(replaces, removes); !begun.ok())
        return with_note(std::move(begun).failure(), untouched(folder_));
    Log done;
    auto carried_out = carry_out(folder_, removes, step_, done);
    if (!carried_out.ok()) return take_back(folder_, done, std::move(carried_out).failure(), step_);
    return discard(folder_, step_);
}

bool StagedTree::is_unfinished(const fs::path& folder) {
    std::error_code error;
    return fs::exists(fs::symlink_status(folder / kReady, error));
}

Status StagedTree::recover(const fs::path& folder, const Step& step) {
    std::error_code error;
    if (fs::exists(fs::symlink_status(folder / kStage, error))) CM_TRY(discard(folder, step));
    if (!is_unfinished(folder)) return Done{};
    CM_TRY_ASSIGN(const auto journal, read_journal(folder / kReady / kJournal));
    CM_TRY(check_unchanged(folder, journal));
    Log done;
    if (auto finished = carry_out(folder, journal.removes, step, done); !finished.ok()) {
        auto why = with_note(std::move(finished).failure(),
                             fmt::format("{} is what an interrupted command left: some files old, others new",
                                         text::printable(folder.string())));
        why.diagnostics.front().fix =
            "make it possible to write there, then run the command again: it goes on";
        return why;
    }
    return discard(folder, step);
}

}  // namespace cudamatrix
