// The part of `facts refresh` that asks the registries of images.
#pragma once

#include <functional>

#include "commands/refresh_gathered.hpp"
#include "registry/oci.hpp"

namespace cudamatrix {

/// Lists the tags of a repository (a row of image_repositories), reads the configurations of what is new
/// there, and adds their rows. Ends early where `stopped` says so.
void refresh_images(const Row& repository, const Facts& facts, Http& http, OciClient& registry,
                    const std::function<bool()>& stopped, Gathered& gathered);

}  // namespace cudamatrix
