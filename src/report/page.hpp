// HTML pages that stand alone: one file with its style, its script and its data, that opens without a
// network.
#pragma once

#include <string>
#include <string_view>

namespace cudamatrix::report {

struct Page {
    std::string_view title;
    std::string_view totals;  ///< one sentence for who runs no scripts
    std::string_view data;    ///< JSON, which the script of the page shows
};

/// The page: head.html and page.html of src/report/page, with page.css and page.js in them. No value becomes
/// markup: the title and the totals are escaped, the data cannot end its element, and the browser runs no
/// script and takes no style but ours, which the page names by their hashes.
[[nodiscard]] std::string page_html(const Page& page);

/// A page with the same head and style, and without any script. `body` is markup.
[[nodiscard]] std::string scriptless_page_html(std::string_view title, std::string_view body);

/// `json` for a script element: what could end it or begin a comment is written as \u003c ...
[[nodiscard]] std::string for_script_element(std::string_view json);

}  // namespace cudamatrix::report
