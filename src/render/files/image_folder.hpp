// The files of images' folders, filled from their templates (private to src/render).
#pragma once

#include <vector>

#include "render/files/artifacts.hpp"
#include "render/templates/template.hpp"

namespace cudamatrix {

/// The files of each image in the order of `images`, each list sorted by path, with paths below the output
/// folder and with their hashes. Many images are shared out to all processors, except where somebody watches
/// the templates. A failure is that of the first image that has one.
[[nodiscard]] Result<std::vector<std::vector<Artifact>>> image_folders(const mustache::Library& library,
                                                                       const Matrix& matrix,
                                                                       const std::vector<Image>& images,
                                                                       const Lock& lock,
                                                                       const RenderSettings& settings);

}  // namespace cudamatrix
