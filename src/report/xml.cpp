#include "report/xml.hpp"

#include "base/text.hpp"

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
