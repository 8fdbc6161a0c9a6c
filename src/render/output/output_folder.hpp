// The output folder: written as a whole, only what changed, nothing that is not ours; or only compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cudamatrix {

// Many files of a folder changed at once, so that a process that dies in between leaves no mixture.

/// Called before each change of the file system: a test ends its process there.
using Step = std::function<void()>;

/// What the change expects to find at paths where something stands: path -> its SHA-256.
using Expected = std::map<std::string, std::string>;

/// Relative, and made of plain names only.
[[nodiscard]] bool is_inside(const std::filesystem::path& path);

/// New files are written below FOLDER/.cudamatrix-stage, and renaming that to FOLDER/.cudamatrix-ready is the
/// one moment at which the change happens: before it nothing of FOLDER was touched and the stage is rubbish,
/// after it everything that is left in it has yet to be moved to its place, which recover() does however
/// often it is interrupted. Whole folders that are not there yet are moved by one rename. A process that dies
/// at any moment (kill -9) leaves the old tree, the new one, or a mixture of whole files with the journal by
/// which the next command finishes (recover). Where a move fails, the old tree comes back at once: what is
/// replaced was kept beside what is new. A power cut may leave files of the last render short, and the next
/// one, which compares contents, writes them again.
class StagedTree {
  public:
    explicit StagedTree(std::filesystem::path folder, Step step = {});
    ~StagedTree();
    StagedTree(const StagedTree&) = delete;
    StagedTree& operator=(const StagedTree&) = delete;

    struct File {
        std::filesystem::path path;  ///< relative, made of plain names
        std::string_view content;
    };
    /// Stages files, each path once; many of them side by side. Those of one folder should follow each other.
    [[nodiscard]] Status put(const std::vector<File>& files);
    /// The change: what was put takes its place, what `removes` names goes (with folders that it leaves
    /// empty). `replaces` is what recover() after a kill compares with, so that nothing is overwritten or
    /// removed that somebody has changed meanwhile. A failure leaves the old tree, or names what is not in
    /// its old place, where that is, and what to do.
    [[nodiscard]] Status commit(const Expected& replaces, const Expected& removes);

    /// A change was killed on its way, or failed and could not be taken back: recover() has something to
    /// move.
    [[nodiscard]] static bool is_unfinished(const std::filesystem::path& folder);
    /// Finishes a change that was killed after its moment, discards one that was killed before it.
    [[nodiscard]] static Status recover(const std::filesystem::path& folder, const Step& step = {});

  private:
    [[nodiscard]] Status begin(const Expected& replaces, const Expected& removes);

    std::filesystem::path folder_;
    Step step_;
};

// Which files of an output folder are ours: the list that each render leaves there.

/// A file of the output folder.
struct Artifact {
    std::filesystem::path path;  ///< relative to the output folder, made of ids only
    std::string content;
    std::string sha256 = {};  ///< of the content, where it was counted already; else empty
};

inline constexpr std::string_view kIndexFile =
    "index.json";  ///< for readers: images, cells, hashes of all files
inline constexpr std::string_view kOwnedFile =
    ".cudamatrix-files";  ///< for ourselves: every file that we wrote and that is still there

using OwnedFiles = std::map<std::string, std::string>;  ///< path, relative to the folder -> sha256

/// A list or an index that is longer was not written by us.
inline constexpr std::uint64_t kLargestIndex = 256u << 20;

/// The files that earlier renders wrote below `out`, by kOwnedFile or, where that is missing, by index.json;
/// none where neither is there. Refused where either is there and not ours.
/// Of another list that list alone is asked.
[[nodiscard]] Result<OwnedFiles> owned_files(const std::filesystem::path& out,
                                             std::string_view list = kOwnedFile);

/// The list of `artifacts` and of what stays there beside them, for a file of that name.
[[nodiscard]] std::string owned_text(const std::vector<Artifact>& artifacts, const OwnedFiles& orphans,
                                     std::string_view list = kOwnedFile);

struct WriteOptions {
    bool prune = false;  ///< remove files of ours in folders that no image of the plan has any more
    Step step;           ///< for tests
    std::set<std::string> left_alone =
        {};                        ///< folders of images ("images/ID"): what is ours there stays as it is
    std::string list{kOwnedFile};  ///< which says what is ours: a folder of others may have several
};

struct Written {
    std::size_t changed = 0;  ///< files written
    std::size_t unchanged = 0;
    std::size_t removed = 0;  ///< files of ours that an image's folder no longer has, or that were pruned
    std::vector<std::string> pruned;  ///< those that were pruned
    std::vector<std::string>
        orphans;  ///< files of ours in folders that no image of the plan has any more; left alone
};

/// Writes `artifacts` below `out`, all of them at one moment (StagedTree says what that guarantees), after
/// finishing what an earlier call left that was killed. Files whose content is there already are not touched;
/// where nothing differs, nothing at all is written. Refused before anything is written: paths that leave
/// `out`, symbolic links on the way, files that are there with other content but that we did not write
/// (kOwnedFile, or where that is missing index.json, does not list them), and files of ours that would go but
/// were changed by hand.
[[nodiscard]] Result<Written> write_artifacts(const std::filesystem::path& out,
                                              const std::vector<Artifact>& artifacts,
                                              const WriteOptions& options = {});

struct Cleared {
    std::size_t removed = 0;
    std::vector<std::string> kept;  ///< files of ours that were changed by hand, relative to the folder
};

/// Removes the files that write_artifacts wrote below `out`, folders that are empty then, and, where nothing
/// is kept, the list of them. Files that are not on the list stay. Can be repeated after it was killed.
[[nodiscard]] Result<Cleared> clear_artifacts(const std::filesystem::path& out);

/// Finishes or discards what a killed write_artifacts left, and does nothing else.
[[nodiscard]] Status recover_output(const std::filesystem::path& out);

/// A file of the output folder that is not as the matrix gives it.
struct Drift {
    enum class Kind {
        changed,     ///< ours, with other content
        missing,     ///< not there
        stale,       ///< ours, in an image's folder that no longer has it: the next render removes it
        orphan,      ///< ours, in a folder that no image of the plan has: --prune removes it
        foreign,     ///< not ours, in the place of one of ours
        edited,      ///< stale or orphan, but changed by hand: nobody removes it
        unfinished,  ///< a render was killed: the next one finishes it
    };
    Kind kind = Kind::changed;
    std::string path;    ///< relative to the output folder
    std::string before;  ///< content of the folder (changed, foreign, stale, orphan, edited)
    std::string after;   ///< what the matrix gives (changed, missing, foreign)
};

/// "changed", "missing" ...
[[nodiscard]] std::string_view to_string(Drift::Kind kind);
/// Whether a render (with --prune where there are orphans) makes it right by itself.
[[nodiscard]] bool is_fixed_by_render(Drift::Kind kind);

/// Compares without writing anything, sorted by path. Fails as write_artifacts does where a path leaves `out`
/// or a link is on the way. A folder that is not there lacks every file.
/// What is ours in `left_alone` is not looked at.
[[nodiscard]] Result<std::vector<Drift>> compare_artifacts(const std::filesystem::path& out,
                                                           const std::vector<Artifact>& artifacts,
                                                           const std::set<std::string>& left_alone = {},
                                                           std::string_view list = kOwnedFile);

// What stands between an output folder and its artifacts; nothing is touched to find it.

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
    OwnedFiles left_alone;         ///< ... of folders that are not looked at
    std::set<std::string> edited;  ///< those of both that were changed by hand
};

/// Fails where a path leaves `out`, or a link or a file is on the way to one.
[[nodiscard]] Result<Difference> difference_of(const std::filesystem::path& out,
                                               const std::vector<Artifact>& artifacts, const OwnedFiles& ours,
                                               const std::set<std::string>& left_alone = {});

}  // namespace cudamatrix
