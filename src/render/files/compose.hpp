// The data behind compose.yaml and its GPU overlays (names: templates/README.md; private to src/render).
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "render/files/artifacts.hpp"
#include "render/templates/data.hpp"

namespace cudamatrix {

struct ComposeInput {
    const Matrix& matrix;
    const std::vector<Image>& images;
    const std::vector<RenderedImage>& rendered;  ///< rendered[i] belongs to images[i]
    const std::string& matrix_folder;            ///< RenderSettings::matrix_folder
};

/// The services of plan_services, built from the folders of their images; fails as that does.
[[nodiscard]] Result<mustache::Data::Object> compose_model(const ComposeInput& input);

}  // namespace cudamatrix
