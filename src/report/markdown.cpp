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

std::string block(std::string_view text) {
    auto out = plain(text::trim(text));
    const auto digits = out.find_first_not_of("0123456789");
    const bool is_number = digits != 0 && digits != std::string::npos && out[digits] == '.';
    const bool is_mark = !out.empty() && (out[0] == '-' || out[0] == '+');
    if (is_number || is_mark) out.insert(is_number ? digits : 0, 1, '\\');
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

void Comment::section(std::string_view head, const std::vector<std::string>& items, std::string_view tail,
                      std::string_view noun, std::size_t room) {
    auto size = text_.size() + head.size() + tail.size();
    std::size_t fitting = 0;
    while (fitting < items.size() && size + items[fitting].size() <= room)
        size += items[fitting++].size();
    if (fitting != items.size()) left_out_.push_back(text::count(items.size() - fitting, noun));
    if (fitting == 0) return;
    text_ += head;
    for (std::size_t i = 0; i < fitting; ++i)
        text_ += items[i];
    text_ += tail;
}

void Comment::whole(std::string_view text, std::string name) {
    if (text_.size() + text.size() <= kMarkdownLimit - kKept) {
        text_ += text;
    } else {
        left_out_.push_back(std::move(name));
    }
}

std::string Comment::finish() && {
    if (left_out_.empty()) return std::move(text_);
    auto names = text::join(left_out_, ", ");
    if (names.size() > kKept / 2) names = text::count(left_out_.size(), "part");
    text_ += fmt::format("\nLeft out, for a comment holds {} characters: {}. The other reports have them.\n",
                         kMarkdownLimit, names);
    return std::move(text_);
}

}  // namespace cudamatrix::report::markdown
