// Small text helpers, and the only door to fmt.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudamatrix::text {

[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
[[nodiscard]] std::string_view trim(std::string_view text);
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);
[[nodiscard]] std::string lower(std::string_view text);  ///< ASCII only
[[nodiscard]] std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

/// Byte offset of the first byte that is not valid UTF-8 (overlong forms and surrogates count as invalid).
[[nodiscard]] std::optional<std::size_t> invalid_utf8(std::string_view text);

/// `text` fit for a terminal or a log line: control characters, escape sequences, invalid UTF-8 and
/// characters that are invisible or change the direction of text become '?', a tab a space.
[[nodiscard]] std::string printable(std::string_view text);

/// Columns that `text` takes on a terminal, counting one for each code point.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// The candidate nearest to `word` (edit distance, case ignored) when it is near enough to be what was meant.
[[nodiscard]] std::optional<std::string> did_you_mean(std::string_view word,
                                                      const std::vector<std::string>& candidates);

/// Glob with '*' for any run of characters and '?' for one; everything else literal.
[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text);

/// "1 cell", "6 cells".
[[nodiscard]] std::string count(std::size_t number, std::string_view noun);

/// Bytes in the unit that people read: "812 MB", "1.4 GB" (powers of ten).
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);

}  // namespace cudamatrix::text
