// Base64 (RFC 4648, section 4): what HTTP's Basic authentication and docker's configuration files use.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cudamatrix::base64 {

[[nodiscard]] std::string encoded(std::string_view bytes);

/// Nothing for other characters, wrong padding or bits behind the end; padding may be left out.
[[nodiscard]] std::optional<std::string> decoded(std::string_view text);

}  // namespace cudamatrix::base64
