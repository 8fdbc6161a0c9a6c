// Folders of an image that belong to its system: what may not be handed to the image's user, and what files
// of the user may not take the place of.
#pragma once

#include <string_view>

namespace cudamatrix {

/// Whether `path` (absolute, of plain steps) is a folder whose owner may not change: named volumes and the
/// working folder are the user's.
[[nodiscard]] bool is_system_folder(std::string_view path);

/// Whether what lies at `path` decides what code runs, and as whom: the loader, programs, libraries,
/// accounts. Configuration (/etc/app.toml) and programs of the site (/usr/local/bin/app) do not.
[[nodiscard]] bool is_system_file(std::string_view path);

}  // namespace cudamatrix
