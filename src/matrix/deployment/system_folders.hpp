// Folders of an image that belong to its system.
#pragma once

#include <string_view>

namespace cudamatrix {

/// Whether the owner of `path` (absolute, of plain steps) may not change: named volumes and the working
/// folder are the user's.
[[nodiscard]] bool is_system_folder(std::string_view path);

/// Whether what lies at `path` decides what code runs, and as whom: the loader, programs, libraries,
/// accounts. Configuration (/etc/app.toml) and programs of the site (/usr/local/bin/app) do not.
[[nodiscard]] bool is_system_file(std::string_view path);

}  // namespace cudamatrix
