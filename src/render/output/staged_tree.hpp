// Many files of a folder changed at once, so that a process that dies in between leaves no mixture.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cudamatrix {

/// Called before each change of the file system: a test ends its process there.
using Step = std::function<void()>;

/// What the change expects to find at paths where something stands: path -> its SHA-256.
using Expected = std::map<std::string, std::string>;

/// Relative, and made of plain names only.
[[nodiscard]] bool is_inside(const std::filesystem::path& path);

/// New files are written below FOLDER/.cudamatrix-stage, and renaming that to FOLDER/.cudamatrix-ready is the
/// one moment at which the change happens: before it nothing of FOLDER was touched and the stage is rubbish,
/// after it everything that is left in it has yet to be moved to its place, which finish() does however often
/// it is interrupted. Whole folders that are not there yet are moved by one rename. A process that dies at
/// any moment (kill -9) leaves the old tree, the new one, or a mixture of whole files with the journal by
/// which the next command finishes (recover). A power cut may leave files of the last render short, and the
/// next one, which compares contents, writes them again.
class StagedTree {
  public:
    explicit StagedTree(std::filesystem::path folder, Step step = {});

    struct File {
        std::filesystem::path path;  ///< relative, made of plain names
        std::string_view content;
    };
    /// Stages files, each path once; many of them side by side. Those of one folder should follow each other.
    [[nodiscard]] Status put(const std::vector<File>& files);
    /// The change: what was put takes its place, what `removes` names goes (with folders that it leaves
    /// empty). `replaces` is what finish() after a kill compares with, so that nothing is overwritten or
    /// removed that somebody has changed meanwhile.
    [[nodiscard]] Status commit(const Expected& replaces, const Expected& removes);

    /// A change was killed on its way: finish() has something to move.
    [[nodiscard]] static bool is_unfinished(const std::filesystem::path& folder);
    /// Finishes a change that was killed after its moment, discards one that was killed before it.
    [[nodiscard]] static Status recover(const std::filesystem::path& folder, const Step& step = {});

  private:
    std::filesystem::path folder_;
    Step step_;
};

}  // namespace cudamatrix
