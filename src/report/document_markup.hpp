// Parts of a document as markup of a page.
#pragma once

#include <string>
#include <string_view>

#include "report/document.hpp"

namespace cudamatrix::report {

/// `text` on one line, as text; cut to kLongestText columns.
[[nodiscard]] std::string html_text(std::string_view text);

/// A value: as code, as a link, in the colour of its tone.
[[nodiscard]] std::string html_of(const Span& span);

/// A table with a line for each line of the timeline: its label, its mark among the months, and the same in
/// words. Empty without lines.
[[nodiscard]] std::string timeline_html(const Timeline& timeline);

}  // namespace cudamatrix::report
