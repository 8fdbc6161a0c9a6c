// Text in GitHub's Markdown: whatever it is, it stays text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cudamatrix::report::markdown {

/// `text` on one line without markup, HTML, or mention of a person or an issue; cut to 2,000 columns.
[[nodiscard]] std::string plain(std::string_view text);

/// The same between HTML tags, where Markdown does not reach: with its line ends, not cut.
[[nodiscard]] std::string inside_html(std::string_view text);

/// "| a | b |", and the line under the titles of a table.
[[nodiscard]] std::string row(const std::vector<std::string>& cells);
[[nodiscard]] std::string rule(std::size_t columns);

}  // namespace cudamatrix::report::markdown
