// XML 1.0 that stays well-formed whatever the text was.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudamatrix::report::xml {

/// `text` with only characters that XML 1.0 allows: line ends and blanks stay, every other control character,
/// escape sequence, direction mark and byte that is not UTF-8 becomes '?'.
[[nodiscard]] std::string legal(std::string_view text);

/// The text of an attribute's value (without quotes), at most `limit` bytes before escaping; the end is lost
/// to "...".
[[nodiscard]] std::string attribute(std::string_view text, std::size_t limit = 4096);

/// A CDATA section (several where the text holds its end mark); of a longer text the last `limit` bytes.
[[nodiscard]] std::string cdata(std::string_view text, std::size_t limit = 64u << 10);

using Attributes = std::vector<std::pair<std::string_view, std::string>>;

/// `<name a="b">`, or `<name a="b"/>` when `empty`. Names come from the program, never from data.
[[nodiscard]] std::string tag(std::string_view name, const Attributes& attributes, bool empty = false);

}  // namespace cudamatrix::report::xml
