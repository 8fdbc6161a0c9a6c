// What the values of a column look like. Private to src/facts.
#pragma once

#include <string_view>

#include "knowledge/facts/schema.hpp"

namespace cudamatrix::facts {

[[nodiscard]] bool is_of(Kind kind, std::string_view value);
/// "a version such as 12.4.1", for messages.
[[nodiscard]] std::string_view accepts(Kind kind);

}  // namespace cudamatrix::facts
