// What images: of the matrix file copies into images: found, hashed and put into the contexts of builds.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "render/image/image.hpp"

namespace cudamatrix::job {

/// The files that one image gets beside what is rendered.
struct Copies {
    struct File {
        std::filesystem::path from;
        std::filesystem::path to;  ///< relative to the context: "copy/app/train.py"
    };
    std::vector<File> files;  ///< sorted
    std::string hash;  ///< over names, contents and whether they are executable; empty: nothing is copied
};

/// What `image` copies, from beside the matrix file. Input failures, with the place of the entry: nothing is
/// there, a symbolic link (which could lead anywhere), anything else that is neither file nor folder, a
/// folder without files or with too many, and one that holds `out`.
[[nodiscard]] Result<Copies> find_copies(const Matrix& matrix, const Image& image,
                                         const std::filesystem::path& out);

/// Puts them below `context`, as hard links where the file system allows it, in the place of what an earlier
/// build put there. A folder of that name that no build made is left alone: an environment failure.
[[nodiscard]] Status stage_copies(const Copies& copies, const std::filesystem::path& context);

/// Takes away what stage_copies put below `context`, and nothing else; gives the number of files.
[[nodiscard]] Result<std::size_t> remove_copies(const std::filesystem::path& context);

}  // namespace cudamatrix::job
