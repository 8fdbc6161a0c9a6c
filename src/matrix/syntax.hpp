// The grammars of values: what passes the allow-list (private to src/matrix).
#pragma once

#include <string_view>

#include "matrix/field.hpp"

namespace cudamatrix::syntax {

/// True when `text` is a scalar value of `field`; never for a map field.
[[nodiscard]] bool accepts(const FieldInfo& field, std::string_view text);

/// "registry.example.org", "localhost:5000".
[[nodiscard]] bool is_registry_host(std::string_view text);

/// A registry host, optionally followed by a path of repositories: "registry.example.org/hub".
[[nodiscard]] bool is_registry_prefix(std::string_view text);

}  // namespace cudamatrix::syntax
