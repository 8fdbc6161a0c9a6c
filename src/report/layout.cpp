#include "report/layout.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/text.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::string_view kDots = "...";

// Bytes of the first `columns` code points of a valid UTF-8 text.
std::size_t prefix_bytes(std::string_view text, std::size_t columns) {
    std::size_t at = 0;
    for (; at < text.size(); ++at) {
        const bool starts_character = (static_cast<unsigned char>(text[at]) & 0xC0u) != 0x80u;
        if (starts_character && columns-- == 0) break;
    }
    return at;
}

// One line. Hostile output can be megabytes: look no further than what could be shown.
std::string cleaned(std::string_view text, std::size_t columns) {
    const std::size_t most = columns > text.size() / 4 ? text.size() : columns * 4 + 4;
    std::string line(text.substr(0, most));
    std::ranges::replace_if(
        line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    return text::printable(line);
}

}  // namespace

std::string clipped(std::string_view text, std::size_t columns) {
    auto clean = cleaned(text, columns);
    if (text::display_width(clean) <= columns) return clean;
    if (columns <= kDots.size()) return std::string(kDots.substr(0, columns));
    clean.resize(prefix_bytes(clean, columns - kDots.size()));
    return clean.append(kDots);
}

std::string clipped_middle(std::string_view text, std::size_t columns) {
    auto clean = text::printable(text);
    const auto width = text::display_width(clean);
    if (width <= columns) return clean;
    if (columns <= kDots.size() + 2) return clipped(text, columns);
    const std::size_t tail = (columns - kDots.size()) / 2;
    const std::size_t head = columns - kDots.size() - tail;
    return clean.substr(0, prefix_bytes(clean, head))
        .append(kDots)
        .append(clean, prefix_bytes(clean, width - tail));
}

std::string percent_encoded(std::string_view text, std::string_view also) {
    std::string out;
    for (const char c : text) {
        const bool plain = text::is_word(c) || std::string_view("._~-").find(c) != std::string_view::npos ||
                           also.find(c) != std::string_view::npos;
        out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns, std::size_t lines) {
    const std::size_t room = columns > indent + 10 ? columns - indent : 10;
    const auto whole = clipped(text::trim(text), room * lines);
    std::string_view rest = whole;
    std::string out;
    for (std::size_t number = 1; !rest.empty(); ++number) {
        auto end = prefix_bytes(rest, room);
        std::string shown(rest.substr(0, end));
        if (end < rest.size() && number == lines) {
            shown = clipped(rest, room);
            end = rest.size();
        } else if (end < rest.size() && rest[end] != ' ') {
            const auto blank = rest.rfind(' ', end);
            if (blank != std::string_view::npos && blank > 0) shown = rest.substr(0, end = blank);
        }
        out += std::string(indent, ' ') + std::string(text::trim(shown)) + "\n";
        rest = text::trim(rest.substr(end));
    }
    return out;
}

std::string coloured(std::string_view text, Colour colour, bool enabled) {
    static constexpr std::array<std::string_view, 6> codes{"",         "\x1b[31m", "\x1b[32m",
                                                           "\x1b[33m", "\x1b[35m", "\x1b[1m"};
    if (!enabled || colour == Colour::none || text.empty()) return std::string(text);
    return fmt::format("{}{}\x1b[0m", codes[static_cast<std::size_t>(colour)], text);
}

Colour colour_of(std::string_view word) {
    struct Entry {
        std::string_view word;
        Colour colour;
    };
    static constexpr std::array entries{
        Entry{"accepted", Colour::green},    Entry{"degraded", Colour::yellow},
        Entry{"rejected", Colour::red},      Entry{"unknown", Colour::magenta},
        Entry{"passed", Colour::green},      Entry{"passed_without_gpu", Colour::green},
        Entry{"failed", Colour::red},        Entry{"errored", Colour::red},
        Entry{"pass", Colour::green},        Entry{"pass-interpreted", Colour::green},
        Entry{"pass-loaded", Colour::green}, Entry{"fail", Colour::red},
        Entry{"error", Colour::red},         Entry{"timeout", Colour::red},
        Entry{"crash", Colour::red},         Entry{"skip", Colour::yellow},
        Entry{"incomplete", Colour::yellow},
    };
    const auto found = std::ranges::find_if(entries, [&](const Entry& e) { return e.word == word; });
    return found == entries.end() ? Colour::none : found->colour;
}

std::vector<std::size_t> TextTable::widths(std::size_t first) const {
    std::vector<std::size_t> out;
    for (std::size_t column = first; column < columns_.size(); ++column) {
        auto widest = text::display_width(columns_[column].title);
        for (const auto& row : rows_)
            widest = std::max(widest, text::display_width(text::printable(row[column])));
        out.push_back(widest);
    }
    return out;
}

std::string TextTable::line(const std::vector<std::string>& row, std::size_t first,
                            const std::vector<std::size_t>& widths, bool colour, Colour of_row) const {
    std::string out;
    std::size_t pending = 0;  // blanks are written before the next text, so that no line ends in one
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const auto& column = columns_[first + i];
        const auto text = clipped_middle(row[first + i], widths[i]);
        const auto gap = widths[i] - text::display_width(text);
        if (column.right) pending += gap;
        if (!text.empty()) {
            out +=
                std::string(pending, ' ') + coloured(text, column.by_row ? of_row : colour_of(text), colour);
            pending = 0;
        }
        pending += (column.right ? 0 : gap) + 2;
    }
    return out;
}

std::string TextTable::lines(const std::vector<std::size_t>& widths, bool colour) const {
    std::vector<std::string> titles;
    for (const auto& column : columns_)
        titles.push_back(column.title);
    std::string out = "  " + line(titles, 0, widths, false) + "\n";
    for (std::size_t i = 0; i < rows_.size(); ++i)
        out += "  " + line(rows_[i], 0, widths, colour, colours_[i]) + "\n";
    return out;
}

namespace {

constexpr std::size_t kNarrowest = 40;

std::size_t total(const std::vector<std::size_t>& widths) {
    return std::accumulate(widths.begin(), widths.end(), std::size_t{0}) + 2 * (widths.size() - 1);
}

// The widest become narrower until all fit.
std::vector<std::size_t> shrunk(std::vector<std::size_t> widths, std::size_t room) {
    while (total(widths) > room)
        --*std::ranges::max_element(widths);
    return widths;
}

}  // namespace

std::string TextTable::render_lines(std::size_t width, bool colour) const {
    return lines(shrunk(widths(0), std::max(width, kNarrowest) - 2), colour);
}

std::string TextTable::render(std::size_t width, bool colour) const {
    width = std::max(width, kNarrowest);
    if (const auto all = widths(0); 2 + total(all) <= width) return lines(all, colour);
    const auto rest = shrunk(widths(1), width - 4);
    std::vector<std::string> titles;
    for (const auto& column : columns_)
        titles.push_back(column.title);
    std::string out = "  " + titles[0] + "\n    " + line(titles, 1, rest, false) + "\n";
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        out += "  " + clipped_middle(rows_[i][0], width - 2) + "\n    " +
               line(rows_[i], 1, rest, colour, colours_[i]) + "\n";
    }
    return out;
}

namespace {

constexpr std::size_t kLongestLine = 2000;  // of one line of a message, in columns

// The runner's own rules (actions/toolkit, command.ts): '%' first, then line ends; in properties also ':' and
// ','.
std::string escaped_data(std::string_view text) {
    return text::replace_all(text::replace_all(text::replace_all(text, "%", "%25"), "\r", "%0D"), "\n",
                             "%0A");
}

std::string escaped_property(std::string_view text) {
    return text::replace_all(text::replace_all(escaped_data(text), ":", "%3A"), ",", "%2C");
}

}  // namespace

std::string_view github_command(Severity severity) {
    if (severity == Severity::error) return "error";
    return severity == Severity::note || severity == Severity::notice ? "notice" : "warning";
}

std::string github_annotation(std::string_view command, const Location& where, std::string_view title,
                              const std::vector<std::string>& lines) {
    std::vector<std::string> properties;
    if (!where.file.empty()) properties.push_back("file=" + escaped_property(text::printable(where.file)));
    if (where.line != 0) {
        properties.push_back(fmt::format("line={}", where.line));
        if (where.column != 0) {
            properties.push_back(fmt::format("col={}", where.column));
            properties.push_back(
                fmt::format("endColumn={}", where.column + std::max<std::size_t>(where.length, 1)));
        }
    }
    properties.push_back("title=" + escaped_property(clipped(title, 120)));
    std::vector<std::string> clean;
    for (const auto& line : lines)
        clean.push_back(clipped(line, kLongestLine));
    return fmt::format("::{} {}::{}\n", command, text::join(properties, ","),
                       escaped_data(text::join(clean, "\n")));
}

}  // namespace cudamatrix::report

namespace cudamatrix::report::xml {
namespace {

bool continues_character(char c) {
    return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u;
}

}  // namespace

std::string legal(std::string_view text) {
    std::vector<std::string> lines;
    for (const auto& line : text::split(text, '\n')) {
        std::string_view content = line;
        if (content.ends_with('\r')) content.remove_suffix(1);
        lines.push_back(text::printable(content));
    }
    const auto out = text::join(lines, "\n");
    // The two code points that are valid UTF-8 and yet no XML.
    return text::replace_all(text::replace_all(out, "\xEF\xBF\xBE", "?"), "\xEF\xBF\xBF", "?");
}

std::string attribute(std::string_view text, std::size_t limit) {
    std::string cut(text.substr(0, limit));
    if (cut.size() < text.size()) {
        while (!cut.empty() && continues_character(text[cut.size()]))
            cut.pop_back();
        cut += "...";
    }
    std::string out;
    for (const char c : legal(cut)) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\n':
                out += "&#10;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string cdata(std::string_view text, std::size_t limit) {
    if (text.size() > limit) {
        text.remove_prefix(text.size() - limit);
        while (!text.empty() && continues_character(text.front()))
            text.remove_prefix(1);
    }
    return "<![CDATA[" + text::replace_all(legal(text), "]]>", "]]]]><![CDATA[>") + "]]>";
}

std::string tag(std::string_view name, const Attributes& attributes, bool empty) {
    std::string out = "<" + std::string(name);
    for (const auto& [key, value] : attributes)
        out += fmt::format(" {}=\"{}\"", key, attribute(value));
    return out + (empty ? "/>" : ">");
}

}  // namespace cudamatrix::report::xml
