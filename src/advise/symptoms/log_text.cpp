#include "advise/symptoms/log_text.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace cudamatrix::symptoms {
namespace {

constexpr char kEscape = '\x1B';
constexpr std::size_t kMostOfLine = 200;

// What messages of gcc, of shells and of web pages write for ', " and a blank.
struct Spelling {
    std::string_view bytes;
    char means;
};
constexpr std::array kSpellings{
    Spelling{"\xE2\x80\x98", '\''}, Spelling{"\xE2\x80\x99", '\''},
    Spelling{"\xC2\xB4", '\''},     Spelling{"`", '\''},
    Spelling{"\xE2\x80\x9C", '"'},  Spelling{"\xE2\x80\x9D", '"'},
    Spelling{"\xC2\xA0", ' '},
};

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '\x7F';
}

/// Length of the escape sequence at the start of `text` (ECMA-48: CSI, and OSC up to its end or the line's).
std::size_t escape_length(std::string_view text) {
    if (text.size() < 2) return text.size();
    std::size_t at = 2;
    if (text[1] == '[') {
        while (at < text.size() && text[at] >= 0x20 && text[at] <= 0x3F)
            ++at;
        return at < text.size() && text[at] >= 0x40 && text[at] <= 0x7E ? at + 1 : at;
    }
    if (text[1] != ']') return is_control(text[1]) ? 1 : 2;
    while (at < text.size() && text[at] != '\a' && text[at] != kEscape && text[at] != '\n')
        ++at;
    return at < text.size() && text[at] == '\a' ? at + 1 : at;
}

bool continues_utf8(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80;
}

}  // namespace

void LogText::add(char c) {
    if (c == ' ') {
        if (!in_blank_) written_ += ' ';
        in_blank_ = true;
        return;
    }
    if (at_start_) starts_.push_back({static_cast<std::uint32_t>(written_.size()), number_});
    in_blank_ = at_start_ = false;
    written_ += c;
}

void LogText::end_line() {
    add(' ');
    ++number_;
    at_start_ = true;
}

LogText::LogText(std::string_view bytes) {
    written_.reserve(bytes.size());
    for (std::size_t i = 0; i < bytes.size();) {
        const auto rest = bytes.substr(i);
        const auto* const spelling =
            std::ranges::find_if(kSpellings, [&](const Spelling& s) { return rest.starts_with(s.bytes); });
        if (rest[0] == kEscape) {
            i += escape_length(rest);
        } else if (spelling != kSpellings.end()) {
            add(spelling->means);
            i += spelling->bytes.size();
        } else {
            if (rest[0] == '\n') {
                end_line();
            } else if (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r') {
                add(' ');
            } else if (!is_control(rest[0])) {
                add(rest[0]);
            }
            ++i;
        }
    }
    words_ = text::lower(written_);
}

LogText::Line LogText::line_at(std::size_t position) const {
    const auto next =
        std::ranges::upper_bound(starts_, position, {}, [](const Start& start) { return start.at; });
    if (next == starts_.begin()) return {};
    const auto& start = *(next - 1);
    const std::size_t end = next == starts_.end() ? written_.size() : next->at;
    std::size_t first = start.at;
    if (end - first > kMostOfLine && position > first + kMostOfLine / 2) first = position;
    auto last = std::min(end, first + kMostOfLine);
    while (last < end && last > first && continues_utf8(written_[last]))
        --last;
    const std::string_view line = std::string_view(written_).substr(first, last - first);
    return {start.number,
            (first > start.at ? "..." : "") + text::printable(text::trim(line)) + (last < end ? "..." : "")};
}

}  // namespace cudamatrix::symptoms
