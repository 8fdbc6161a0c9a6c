// What the templates of families on a registry's base have beside the others (names: templates/README.md;
// private to src/render).
#pragma once

#include <string>

#include "render/image/image.hpp"
#include "render/lock/lock_file.hpp"
#include "render/templates/data.hpp"

namespace cudamatrix {

/// Adds the bases and the package sources of `image` to `model`, which has what all have in common. `lock`
/// nullptr: no digest counts.
void add_registry_model(mustache::Data::Object& model, const Matrix& matrix, const Image& image,
                        const Lock* lock);

}  // namespace cudamatrix
