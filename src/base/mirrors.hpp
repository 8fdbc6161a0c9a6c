// The mirror map: one for registries, wheel indexes and archives.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudamatrix {

/// prefix -> prefix, or the name of a source -> URL, as in `mirrors:` of a matrix file, in its order.
using Mirrors = std::vector<std::pair<std::string, std::string>>;

/// `text` with the longest prefix that fits replaced by its value. A prefix ends where a part of a path ends.
[[nodiscard]] std::string mirrored(std::string_view text, const Mirrors& mirrors);

/// What the map gives for exactly `name` ("pypi", "debian"), empty without one.
[[nodiscard]] std::string mirror_of(const Mirrors& mirrors, std::string_view name);

}  // namespace cudamatrix
