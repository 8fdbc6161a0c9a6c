// Templates of users, looked at before a matrix needs them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "base/result.hpp"
#include "knowledge/facts/facts.hpp"
#include "render/image/image.hpp"
#include "render/lock/lock_file.hpp"
#include "render/templates/template.hpp"

namespace cudamatrix {

struct TemplateCheck {
    std::vector<mustache::Library::Listed> templates;  ///< as list() gives them
    std::vector<Diagnostic> mistakes;                  ///< at file:line:col where there is one
    std::size_t filled = 0;                            ///< files that the sample matrix gave
};

/// The templates that a render with --templates `folder` would take (empty: ours alone), sorted by name. A
/// folder that cannot be read, or holds what replaces nothing of ours and is no included partial, is a
/// failure.
[[nodiscard]] Result<std::vector<mustache::Library::Listed>> list_templates(
    const std::filesystem::path& folder);

/// Pins of all that `image` asks for, and one more of each kind, with versions that are made up.
[[nodiscard]] ImagePins sample_pins(const Image& image);

/// Parses all templates and fills them from a sample matrix with and without a lock and a CA bundle; sections
/// of booleans are entered whether they are true or not. All mistakes are found in one go: names that replace
/// nothing and that nothing includes, syntax, missing contexts, unknown values, values of another kind.
[[nodiscard]] TemplateCheck check_templates(const std::filesystem::path& folder, const Facts& facts);

}  // namespace cudamatrix
