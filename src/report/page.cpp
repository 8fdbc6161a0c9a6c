#include "report/page.hpp"

#include <span>
#include <utility>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "render/templates/template.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

std::string_view part(std::string_view name) {
    const auto found = embedded_below(fmt::format("src/report/page/{}", name));
    return found.empty() ? std::string_view() : found.front().content;
}

// As a policy names an element by its content: 'sha256-...'.
std::string source_of(std::string_view content) {
    const auto hex = sha256(content);
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        const auto digit = [](char c) { return text::is_digit(c) ? c - '0' : c - 'a' + 10; };
        bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
    }
    return fmt::format("'sha256-{}'", text::to_base64(bytes));
}

// `name` with each value in its place. They come in their order in the file: what is put in is never looked
// at again.
std::string filled(std::string_view name, std::span<const std::pair<std::string_view, std::string>> values) {
    constexpr std::string_view mark = "%%";
    auto rest = part(name);
    std::string out;
    for (const auto& [place, value] : values) {
        const auto at = rest.find(fmt::format("{}{}{}", mark, place, mark));
        out += rest.substr(0, at);
        out += value;
        rest.remove_prefix(at + place.size() + 2 * mark.size());
    }
    return out.append(rest);
}

// Up to the body. Without a script none may run.
std::string head_html(std::string_view title, std::string_view script) {
    const auto style = part("page.css");
    const auto scripts = script.empty() ? std::string() : fmt::format("script-src {}; ", source_of(script));
    const std::pair<std::string_view, std::string> values[] = {
        {"POLICY", fmt::format("default-src 'none'; style-src {}; {}base-uri 'none'; form-action 'none'",
                               source_of(style), scripts)},
        {"TITLE", xml::attribute(clipped(title, 200))},
        {"STYLE", std::string(style)},
    };
    return filled("head.html", values);
}

}  // namespace

std::string for_script_element(std::string_view json) {
    auto out = text::replace_all(json, "<", "\\u003c");
    out = text::replace_all(out, ">", "\\u003e");
    out = text::replace_all(out, "&", "\\u0026");
    out = text::replace_all(out, "\xe2\x80\xa8", "\\u2028");
    return text::replace_all(out, "\xe2\x80\xa9", "\\u2029");
}

std::string page_html(const Page& page) {
    const auto script = part("page.js");
    const std::pair<std::string_view, std::string> values[] = {
        {"TOTALS", xml::attribute(clipped(page.totals, 1000))},
        {"DATA", for_script_element(page.data)},
        {"SCRIPT", std::string(script)},
    };
    return head_html(page.title, script) + filled("page.html", values);
}

std::string scriptless_page_html(std::string_view title, std::string_view body) {
    return fmt::format("{}<body>\n{}</body>\n</html>\n", head_html(title, {}), body);
}

}  // namespace cudamatrix::report
