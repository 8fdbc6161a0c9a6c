// From the text of a template to its tree (private to src/render).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "render/templates/context.hpp"

namespace cudamatrix::mustache {

struct Node {
    enum class Kind { text, value, section, inverted, partial } kind = Kind::text;
    std::string text;                ///< the literal, or the name
    Context context = Context::env;  ///< of a value
    Location where;
    std::string indent;          ///< of a partial that stands alone on its line
    std::vector<Node> children;  ///< of a section
};

struct Template {
    std::vector<Node> nodes;
    std::vector<std::string> partials;  ///< the names in its tags {{> name }}
};

/// Parses `text`. `indent` is put before each of its lines (a partial takes the indentation of its tag) and
/// does not count in positions. All mistakes are reported.
[[nodiscard]] Result<Template> parse_template(std::string_view text, const std::string& shown,
                                              const std::string& indent);

}  // namespace cudamatrix::mustache
