#include "report/markdown.hpp"

#include "base/text.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report::markdown {
namespace {

constexpr std::size_t kLongest = 2000;  // columns of one line

// "&amp;", or a mark behind what would mention somebody; empty: nothing special in HTML.
std::string html_for(char c) {
    switch (c) {
        case '&':
            return "&amp;";
        case '<':
            return "&lt;";
        case '>':
            return "&gt;";
        case '@':
        case '#':
            return std::string(1, c) + "<!-- -->";
        default:
            return {};
    }
}

}  // namespace

std::string plain(std::string_view text) {
    std::string out;
    for (const char c : clipped(text, kLongest)) {
        if (const auto html = html_for(c); !html.empty()) {
            out += html;
            continue;
        }
        if (std::string_view("\\`*_{}[]()!|~$").find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

std::string inside_html(std::string_view text) {
    std::string out;
    for (const auto& line : text::split(text, '\n')) {
        if (!out.empty()) out += '\n';
        for (const char c : text::printable(line)) {
            const auto html = html_for(c);
            out += html.empty() ? std::string(1, c) : html;
        }
    }
    return out;
}

std::string row(const std::vector<std::string>& cells) {
    std::string out = "|";
    for (const auto& cell : cells)
        out += " " + plain(cell) + " |";
    return out + "\n";
}

std::string rule(std::size_t columns) {
    std::string out = "|";
    for (std::size_t i = 0; i < columns; ++i)
        out += " --- |";
    return out + "\n";
}

}  // namespace cudamatrix::report::markdown
