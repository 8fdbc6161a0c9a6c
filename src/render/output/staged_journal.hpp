// What a change of an output folder replaces and removes, as the file by which the next command finishes it.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "render/output/output_folder.hpp"

namespace cudamatrix {

struct Journal {
    Expected replaces;
    Expected removes;
};

[[nodiscard]] std::string journal_text(const Expected& replaces, const Expected& removes);

/// Refused where it is not ours. Paths that no render gives are left out.
[[nodiscard]] Result<Journal> read_journal(const std::filesystem::path& path);

}  // namespace cudamatrix
