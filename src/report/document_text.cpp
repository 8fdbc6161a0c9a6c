// A document for a terminal.
#include <algorithm>
#include <numeric>

#include "base/text.hpp"
#include "report/document.hpp"
#include "report/document_parts.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kNarrowestDocument = 40, kNarrowestColumn = 16, kWidestLabel = 40;
constexpr std::size_t kMostLinesOfText = 200;

Colour colour_of_tone(Tone tone) {
    switch (tone) {
        case Tone::good:
            return Colour::green;
        case Tone::warning:
            return Colour::yellow;
        case Tone::bad:
            return Colour::red;
        case Tone::plain:
        case Tone::dim:
            break;
    }
    return Colour::none;
}

// Lines without their ends; none of an empty text.
std::vector<std::string> lines_within(std::string_view text, std::size_t columns) {
    auto lines = text::split(wrapped(clipped(text, kLongestText), 0, columns, kMostLinesOfText), '\n');
    lines.pop_back();
    return lines;
}

// `first` before the first line, blanks before the others.
std::string indented_after(std::string_view first, std::string_view text, std::size_t columns) {
    const auto indent = text::display_width(first);
    std::string out;
    for (const auto& line : lines_within(text, columns - std::min(columns, indent)))
        out += (out.empty() ? std::string(first) : std::string(indent, ' ')) + line + "\n";
    return out;
}

std::size_t longest_word(std::string_view text) {
    std::size_t longest = 0;
    for (const auto& word : text::split(text, ' '))
        longest = std::max(longest, text::display_width(word));
    return longest;
}

// A table in aligned columns. Values are wrapped at blanks; where a word does not fit, each value gets a
// line.
class ColumnsOfText {
  public:
    ColumnsOfText(const DocumentTable& table, const TextOptions& options)
        : table_(table), columns_(columns_of(table)), width_(options.width), colour_(options.colour) {
        std::vector<Span> titles;
        for (std::size_t i = 0; i < columns_; ++i)
            titles.emplace_back(title_of(table, i));
        add(titles);
        for (const auto& row : table.rows)
            add(row);
    }

    std::string render() const {
        if (columns_ == 0) return {};
        const auto widths = fitting_widths();
        std::string out;
        for (const auto& row : rows_)
            out += widths.empty() ? record(row) : aligned(row, widths);
        return out;
    }

  private:
    void add(std::vector<Span> row) {
        row.resize(columns_);
        for (auto& cell : row)
            cell.text = clipped(text::trim(cell.text), kLongestText);
        rows_.push_back(std::move(row));
    }

    // Empty: they do not fit.
    std::vector<std::size_t> fitting_widths() const {
        std::vector<std::size_t> widths(columns_), least(columns_);
        for (std::size_t i = 0; i < columns_; ++i) {
            for (const auto& row : rows_) {
                widths[i] = std::max(widths[i], text::display_width(row[i].text));
                least[i] = std::max(least[i], longest_word(row[i].text));
            }
            least[i] = std::min(widths[i], std::max(least[i], kNarrowestColumn));
        }
        const auto sum = [](const std::vector<std::size_t>& all) {
            return std::accumulate(all.begin(), all.end(), 2 * all.size());
        };
        if (sum(least) > width_) return {};
        while (sum(widths) > width_) {
            std::size_t widest = columns_;
            for (std::size_t i = 0; i < columns_; ++i) {
                if (widths[i] > least[i] && (widest == columns_ || widths[i] > widths[widest])) widest = i;
            }
            --widths[widest];
        }
        return widths;
    }

    std::string aligned(const std::vector<Span>& row, const std::vector<std::size_t>& widths) const {
        std::vector<std::vector<std::string>> cells;
        std::size_t height = 0;
        for (std::size_t i = 0; i < columns_; ++i) {
            cells.push_back(lines_within(row[i].text, widths[i]));
            height = std::max(height, cells.back().size());
        }
        std::string out;
        for (std::size_t line = 0; line < height; ++line) {
            std::size_t pending = 2;  // blanks before the next text, so that no line ends in one
            for (std::size_t i = 0; i < columns_; ++i) {
                const auto text = line < cells[i].size() ? cells[i][line] : std::string();
                const auto gap = widths[i] - text::display_width(text);
                const bool is_right = is_number_column(table_, i);
                if (is_right) pending += gap;
                if (!text.empty()) {
                    out += std::string(pending, ' ') + coloured(text, colour_of_tone(row[i].tone), colour_);
                    pending = 0;
                }
                pending += (is_right ? 0 : gap) + 2;
            }
            out += '\n';
        }
        return out;
    }

    // The first value, and below it each other one behind its title.
    std::string record(const std::vector<Span>& row) const {
        if (&row == rows_.data()) return {};
        std::string out;
        for (std::size_t i = 0; i < columns_; ++i) {
            if (row[i].text.empty()) continue;
            const auto title = i == 0 || rows_[0][i].text.empty() ? "" : rows_[0][i].text + ": ";
            std::size_t indent = i == 0 ? 2 : 4;
            for (const auto& line : lines_within(title + row[i].text, width_ - 6)) {
                out += std::string(indent, ' ') + coloured(line, colour_of_tone(row[i].tone), colour_) + "\n";
                indent = i == 0 ? 2 : 6;
            }
        }
        return out;
    }

    const DocumentTable& table_;
    std::size_t columns_, width_;
    bool colour_;
    std::vector<std::vector<Span>> rows_;  // the titles, and the rows
};

std::string text_of_block(const Paragraph& block, const TextOptions& options) {
    return indented_after("", block.text, options.width);
}

std::string text_of_block(const DocumentList& block, const TextOptions& options) {
    std::string out;
    for (const auto& item : block.items)
        out += indented_after("  - ", item, options.width);
    return out;
}

std::string text_of_block(const DocumentTable& block, const TextOptions& options) {
    return ColumnsOfText(block, options).render();
}

std::string text_of_block(const DocumentCode& block, const TextOptions& options) {
    std::string out;
    for (const auto& [line, tone, is_code] : code_lines(block)) {
        if (!line.empty()) out += "    " + coloured(line, colour_of_tone(tone), options.colour);
        out += '\n';
    }
    return out;
}

std::string text_of_block(const Timeline& block, const TextOptions& options) {
    if (block.lines.empty()) return {};
    std::size_t widest = 0;
    for (const auto& line : block.lines)
        widest = std::max(widest, text::display_width(clipped(line.label, kWidestLabel)));
    std::string out;
    if (const auto head = timeline_head(block); !head.empty())
        out = std::string(widest + 4, ' ') + head + "\n";
    for (const auto& line : block.lines) {
        const auto label = clipped(line.label, kWidestLabel);
        const auto gap = std::string(widest - text::display_width(label), ' ');
        const auto bar = coloured(timeline_bar(block, line), colour_of_tone(line.tone), options.colour);
        const auto before = fmt::format("  {}{} |{}| ", label, gap, bar);
        const auto columns = widest + block.months + 6;
        const auto words =
            lines_within(timeline_words(line), options.width > columns + 20 ? options.width - columns : 20);
        out += before + (words.empty() ? "" : words.front()) + "\n";
        for (std::size_t i = 1; i < words.size(); ++i)
            out += std::string(columns, ' ') + words[i] + "\n";
    }
    return out;
}

std::string underlined(std::string_view title, char line, const TextOptions& options) {
    const auto shown = clipped(text::trim(title), options.width);
    if (shown.empty()) return {};
    return fmt::format("{}\n{}\n", coloured(shown, Colour::bold, options.colour),
                       std::string(text::display_width(shown), line));
}

}  // namespace

std::string document_text(const Document& document, const TextOptions& given) {
    auto options = given;
    options.width = std::max(options.width, kNarrowestDocument);
    std::string out;
    const auto add = [&out](const std::string& part) {
        if (!part.empty()) out += (out.empty() ? "" : "\n") + part;
    };
    add(underlined(document.title, '=', options));
    for (const auto& text : document.lead)
        add(indented_after("", text, options.width));
    for (const auto& section : document.sections) {
        add(underlined(section.title, '-', options));
        for (const auto& block : section.blocks)
            add(std::visit([&](const auto& one) { return text_of_block(one, options); }, block));
    }
    return out;
}

}  // namespace cudamatrix::report
