// One cell -> what its image would hold (private to src/render).
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "render/image/image.hpp"

namespace cudamatrix {

/// The image that `cell` alone would get (without id, cells, compute and ptx), or why it gets none.
[[nodiscard]] std::variant<Image, std::string> resolve_cell(const Matrix& matrix, const Cell& cell,
                                                            const Facts& facts);

/// The folder of the templates that render `image`: "debian", "registry".
[[nodiscard]] std::string template_folder(const Image& image);

/// Compute capability that the cell's GPU has, in plain form ("9.0"); empty where the cell says nothing about
/// it.
[[nodiscard]] std::string compute_of(const Cell& cell, const Facts& facts);

/// Stable and injective over what the image holds; legal as file name, image tag and compose service.
[[nodiscard]] std::string image_id(const Image& image, const Facts& facts);

/// Everything that the image holds, in one line: equal for cells that share one.
[[nodiscard]] std::string content_key(const Image& image);

}  // namespace cudamatrix
