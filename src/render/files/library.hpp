// The templates of one render (private to src/render).
#pragma once

#include <string>
#include <string_view>

#include "render/files/artifacts.hpp"
#include "render/templates/template.hpp"

namespace cudamatrix {

/// The embedded templates, replaced by those of settings.templates where it has some.
[[nodiscard]] Result<mustache::Library> load_templates(const RenderSettings& settings);

/// library.fill, and a check that no comment at the top of the file is a directive of the builder ("#
/// syntax=" chooses a frontend, "# escape=" another grammar): the first lines are ours.
[[nodiscard]] Result<std::string> fill_dockerfile(mustache::Library& library, const std::string& name,
                                                  const mustache::Data& model);

}  // namespace cudamatrix
