// A document as a page: static markup, that also prints.
#include <algorithm>

#include "base/text.hpp"
#include "report/document.hpp"
#include "report/document_markup.hpp"
#include "report/document_parts.hpp"
#include "report/layout.hpp"
#include "report/page.hpp"

namespace cudamatrix::report {
namespace {

std::string heading_text(std::string_view title) {
    return html_text(clipped(text::trim(title), kLongestTitle));
}

// Characters of the longest value of a column: short ones keep their line, long ones get room to wrap in.
constexpr std::size_t kShortValue = 16, kLongValue = 60;
// Characters that fit on a line of paper. Of a table that wants more even short values are wrapped.
constexpr std::size_t kLineOfPaper = 75, kLeastOfColumn = 10;

std::size_t longest_in(const DocumentTable& table, std::size_t column) {
    auto longest = text::display_width(title_of(table, column));
    for (const auto& row : table.rows) {
        if (column >= row.size()) continue;
        const std::size_t sign = row[column].tone == Tone::plain ? 0 : 2;
        longest = std::max(longest, text::display_width(row[column].text) + sign);
    }
    return longest;
}

bool keeps_line(const DocumentTable& table, std::size_t column) {
    return is_number_column(table, column) || longest_in(table, column) <= kShortValue;
}

std::string_view class_of_column(const DocumentTable& table, std::size_t column) {
    if (is_number_column(table, column)) return " class=\"number\"";
    if (keeps_line(table, column)) return " class=\"short\"";
    return longest_in(table, column) >= kLongValue ? " class=\"long\"" : "";
}

std::string_view class_of_table(const DocumentTable& table) {
    std::size_t least = 0;
    for (std::size_t i = 0; i < columns_of(table); ++i)
        least += keeps_line(table, i) ? longest_in(table, i) + 2 : kLeastOfColumn;
    return least > kLineOfPaper ? "plain wide" : "plain";
}

// What scrolls by itself where it is too wide, with the keyboard, too.
std::string scrolling(std::string_view what, std::string_view section, std::string_view table) {
    return fmt::format(
        "<div class=\"scroll\" role=\"group\" aria-label=\"{}{}{}\" tabindex=\"0\">\n{}</div>\n", what,
        section.empty() ? "" : ": ", section, table);
}

std::string html_of_block(const Paragraph& block, std::string_view) {
    const auto text = html_of(Span(block.text));
    return text.empty() ? text : fmt::format("<p>{}</p>\n", text);
}

std::string html_of_block(const DocumentList& block, std::string_view) {
    std::string out;
    for (const auto& item : block.items) {
        if (const auto text = html_of(Span(item)); !text.empty()) out += fmt::format("<li>{}</li>\n", text);
    }
    return out.empty() ? out : fmt::format("<ul>\n{}</ul>\n", out);
}

std::string html_of_block(const DocumentTable& block, std::string_view section) {
    const auto columns = columns_of(block);
    if (columns == 0) return {};
    std::vector<std::string_view> classes;
    std::string head, body;
    for (std::size_t i = 0; i < columns; ++i) {
        classes.push_back(class_of_column(block, i));
        head += fmt::format("<th scope=\"col\"{}>{}</th>", classes[i], html_text(title_of(block, i)));
    }
    for (const auto& row : block.rows) {
        body += "<tr>";
        for (std::size_t i = 0; i < columns; ++i)
            body += fmt::format("<td{}>{}</td>", classes[i], i < row.size() ? html_of(row[i]) : "");
        body += "</tr>\n";
    }
    return scrolling(
        "Table", section,
        fmt::format("<table class=\"{}\">\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table>\n",
                    class_of_table(block), head, body));
}

std::string html_of_block(const DocumentCode& block, std::string_view) {
    std::string out;
    for (const auto& [line, tone, is_code] : code_lines(block)) {
        const auto text = xml::attribute(line, line.size());
        out += tone == Tone::good  ? fmt::format("<ins>{}</ins>\n", text)
               : tone == Tone::bad ? fmt::format("<del>{}</del>\n", text)
                                   : text + "\n";
    }
    return fmt::format("<pre>{}</pre>\n", out);
}

std::string html_of_block(const Timeline& block, std::string_view section) {
    const auto table = timeline_html(block);
    return table.empty() ? table : scrolling("Timeline", section, table);
}

std::string section_html(const DocumentSection& section, std::size_t number) {
    const auto title = heading_text(section.title);
    const auto heading = title.empty() ? title : fmt::format("<h2 id=\"t{}\">{}</h2>", number, title);
    std::string blocks;
    for (const auto& block : section.blocks)
        blocks += std::visit([&](const auto& one) { return html_of_block(one, title); }, block);
    const auto label = title.empty() ? title : fmt::format(" aria-labelledby=\"t{}\"", number);
    // A browser opens what is folded around the place that a link goes to: so that place is inside.
    return section.folded ? fmt::format(
                                "<section{}>\n<details>\n<summary>{}</summary>\n"
                                "<div id=\"s{}\">\n{}</div>\n</details>\n</section>\n",
                                label, heading, number, blocks)
                          : fmt::format("<section id=\"s{}\"{}>\n{}{}{}</section>\n", number, label, heading,
                                        heading.empty() ? "" : "\n", blocks);
}

}  // namespace

std::string document_html(const Document& document) {
    const auto title = heading_text(document.title);
    std::string head = title.empty() ? title : fmt::format("<h1>{}</h1>\n", title);
    for (const auto& text : document.lead)
        head += html_of_block(Paragraph{text}, {});
    std::string links, sections;
    for (std::size_t i = 0; i < document.sections.size(); ++i) {
        const auto& section = document.sections[i];
        if (const auto name = heading_text(section.title); !name.empty())
            links += fmt::format("<li><a href=\"#s{}\">{}</a></li>\n", i + 1, name);
        sections += section_html(section, i + 1);
    }
    if (!links.empty()) links = fmt::format("<nav aria-label=\"Sections\">\n<ul>\n{}</ul>\n</nav>\n", links);
    return scriptless_page_html(
        document.title, fmt::format("<main class=\"document\">\n<header>\n{}</header>\n{}{}</main>\n", head,
                                    links, sections));
}

}  // namespace cudamatrix::report
