// A document in GitHub's Markdown: a file, or a comment on a pull request.
#include <algorithm>

#include "base/text.hpp"
#include "report/document.hpp"
#include "report/document_parts.hpp"
#include "report/layout.hpp"
#include "report/markdown.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kNamedTitle = 60;  // columns, where a title is only named

constexpr std::size_t kWidestLabelOfBlock = 40;

// Of escaped text: GitHub would make a link of each address in it, of whatever scheme.
std::string without_links(std::string_view escaped) {
    return text::replace_all(text::replace_all(escaped, "://", ":<!-- -->//"), "www.", "www<!-- -->.");
}

// Of an item or a paragraph.
std::string text_or_link(std::string_view text) {
    return is_link(text) ? fmt::format("<{}>", text) : without_links(markdown::block(text));
}

// Between backticks nothing else has a meaning; a value that has what ends them, or the cell, stands in tags.
std::string code_cell(std::string_view text) {
    if (text.find_first_of("`|\\") == std::string_view::npos)
        return fmt::format("`{}`", clipped(text, kLongestText));
    return fmt::format("<code>{}</code>", without_links(markdown::plain(text)));
}

std::string markdown_cell(const Span& span) {
    const auto trimmed = std::string(text::trim(span.text));
    if (trimmed.empty()) return {};
    const auto sign = sign_of(span.tone);
    return fmt::format("{}{}{}", sign, sign.empty() ? "" : " ",
                       is_link(trimmed) ? fmt::format("<{}>", trimmed)
                       : span.is_code   ? code_cell(trimmed)
                                        : without_links(markdown::plain(trimmed)));
}

std::string fenced(const std::vector<std::string>& lines, std::string_view language) {
    std::size_t longest = 2;
    for (const auto& line : lines) {
        std::size_t run = 0;
        for (const char c : line)
            longest = std::max(longest, run = c == '`' ? run + 1 : 0);
    }
    const std::string fence(longest + 1, '`');
    return fmt::format("{}{}\n{}\n{}\n", fence, language, text::join(lines, "\n"), fence);
}

std::string markdown_of_block(const Paragraph& block) {
    const auto text = text_or_link(text::trim(block.text));
    return text.empty() ? text : text + "\n";
}

std::string markdown_of_block(const DocumentList& block) {
    std::string out;
    for (const auto& item : block.items) {
        if (const auto text = text_or_link(text::trim(item)); !text.empty())
            out += fmt::format("- {}\n", text);
    }
    return out;
}

std::string markdown_of_block(const DocumentTable& block) {
    const auto columns = columns_of(block);
    if (columns == 0) return {};
    std::vector<std::string> titles;
    std::string line = "|";
    for (std::size_t i = 0; i < columns; ++i) {
        titles.push_back(title_of(block, i));
        line += is_number_column(block, i) ? " ---: |" : " --- |";
    }
    auto out = without_links(markdown::row(titles)) + line + "\n";
    for (const auto& row : block.rows) {
        out += '|';
        for (std::size_t i = 0; i < columns; ++i)
            out += fmt::format(" {} |", i < row.size() ? markdown_cell(row[i]) : "");
        out += '\n';
    }
    return out;
}

std::string markdown_of_block(const DocumentCode& block) {
    std::vector<std::string> lines;
    for (const auto& line : code_lines(block))
        lines.push_back(line.text);
    return fenced(lines, language_of(block));
}

std::string markdown_of_block(const Timeline& block) {
    if (block.lines.empty()) return {};
    std::size_t widest = 0;
    for (const auto& line : block.lines)
        widest = std::max(widest, text::display_width(clipped(line.label, kWidestLabelOfBlock)));
    std::vector<std::string> lines;
    if (const auto head = timeline_head(block); !head.empty())
        lines.push_back(std::string(widest + 2, ' ') + head);
    for (const auto& line : block.lines) {
        const auto label = clipped(line.label, kWidestLabelOfBlock);
        lines.push_back(fmt::format("{}{} |{}| {}", label,
                                    std::string(widest - text::display_width(label), ' '),
                                    timeline_bar(block, line), clipped(timeline_words(line), kLongestText)));
    }
    return fenced(lines, "");
}

std::string heading_of(std::string_view title, std::size_t level) {
    const auto shown = without_links(markdown::plain(clipped(text::trim(title), kLongestTitle)));
    return shown.empty() ? shown : fmt::format("{} {}\n", std::string(level, '#'), shown);
}

// With an empty line before each.
std::string below(const std::string& part) {
    return part.empty() ? part : "\n" + part;
}

std::string paragraph_below(const std::string& text) {
    return below(markdown_of_block(Paragraph{text}));
}

std::string blocks_of(const DocumentSection& section) {
    std::string out;
    for (const auto& block : section.blocks)
        out += below(std::visit([](const auto& one) { return markdown_of_block(one); }, block));
    return out;
}

}  // namespace

std::string document_markdown(const Document& document) {
    auto out = heading_of(document.title, 1);
    for (const auto& text : document.lead)
        out += paragraph_below(text);
    for (const auto& section : document.sections)
        out += below(heading_of(section.title, 2)) + blocks_of(section);
    return out;
}

std::string document_comment(const Document& document) {
    markdown::Comment comment;
    comment.add(heading_of(document.title, 2));
    for (const auto& text : document.lead)
        comment.whole(paragraph_below(text), "a paragraph");
    for (const auto& section : document.sections) {
        const auto blocks = blocks_of(section);
        const auto text =
            section.folded ? fmt::format("\n<details><summary>{}</summary>\n{}\n</details>\n",
                                         markdown::inside_html(clipped(section.title, kLongestTitle)), blocks)
                           : below(heading_of(section.title, 3)) + blocks;
        comment.whole(text, fmt::format("\"{}\"", markdown::plain(clipped(section.title, kNamedTitle))));
    }
    return std::move(comment).finish();
}

}  // namespace cudamatrix::report
