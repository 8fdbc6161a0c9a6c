#include "report/document_markup.hpp"

#include <array>

#include "base/text.hpp"
#include "report/document_parts.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

// As page.css knows results.
std::string_view class_of_tone(Tone tone) {
    static constexpr std::array<std::string_view, 5> classes{"mark", "passed", "unknown", "failed",
                                                             "skipped"};
    return classes.at(static_cast<std::size_t>(tone));
}

// Pixels: of a month, of the two lines above the timeline, and of where its years, letters and marks stand.
constexpr unsigned kMonth = 20, kHead = 36, kYearLine = 13, kLetterLine = 30, kMarkLine = 15;

// Around the middle of a line: each tone has a shape of its own, for those who see no colours.
std::string_view shape_of(Tone tone, bool is_before) {
    if (is_before) return "M-6 0 5-6V6Z";
    switch (tone) {
        case Tone::good:
            return "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z";
        case Tone::warning:
            return "M0-6 6 5H-6Z";
        case Tone::bad:
            return "M0-7 7 0 0 7-7 0Z";
        case Tone::plain:
        case Tone::dim:
            break;
    }
    return "M-5-5H5V5H-5Z";
}

// The month and its day, in tenths of a pixel.
std::string place_text(const TimelinePlace& place) {
    constexpr unsigned kLongestMonth = 31, kEdge = 70;
    const auto within = place.day == 0 ? kMonth * 5 : (place.day * 2 - 1) * kMonth * 5 / kLongestMonth;
    const auto tenths = place.is_before ? kEdge : place.month * kMonth * 10 + within;
    return fmt::format("{}.{}", tenths / 10, tenths % 10);
}

std::string months_svg(const Timeline& timeline) {
    const auto letters = month_letters(timeline);
    const auto label = letters.empty() ? std::string("months")
                                       : fmt::format("{} to {}", month_of(timeline, 0),
                                                     month_of(timeline, timeline.months - 1));
    auto out = fmt::format("<svg role=\"img\" aria-label=\"{}\" width=\"{}\" height=\"{}\">", label,
                           timeline.months * kMonth, kHead);
    for (unsigned i = 0; i < letters.size(); ++i) {
        const auto month = month_of(timeline, i);
        // A year of one month has no room for its number.
        if (month.ends_with("-01") || (i == 0 && !month.ends_with("-12")))
            out += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>", i * kMonth + 4, kYearLine,
                               month.substr(0, 4));
        out += fmt::format("<text class=\"letter\" x=\"{}\" y=\"{}\">{}</text>", i * kMonth + kMonth / 2,
                           kLetterLine, letters[i]);
    }
    return out + "</svg>";
}

std::string months_behind(const Timeline& timeline) {
    std::string out;
    for (unsigned i = 0; i <= timeline.months; ++i)
        out += fmt::format("<line class=\"{}\" x1=\"{}\" x2=\"{}\" y2=\"100%\"/>",
                           month_of(timeline, i).ends_with("-01") ? "year" : "month", i * kMonth, i * kMonth);
    return out;
}

std::string mark_svg(const Timeline& timeline, const Timeline::Line& line, std::string_view behind) {
    auto out = fmt::format("<svg aria-hidden=\"true\" width=\"{}\" height=\"100%\"><title>{}</title>{}",
                           timeline.months * kMonth + 1,
                           html_text(fmt::format("{}: {}", line.label, timeline_words(line))), behind);
    if (const auto place = place_on(timeline, line.day)) {
        const auto x = place_text(*place);
        if (!place->is_before)
            out +=
                fmt::format("<line class=\"until\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>", x, kMarkLine, kMarkLine);
        out += fmt::format("<svg class=\"{}\" x=\"{}\" y=\"{}\"><path d=\"{}\"/></svg>",
                           class_of_tone(line.tone), x, kMarkLine, shape_of(line.tone, place->is_before));
    }
    return out + "</svg>";
}

// Where a reference is best broken. A reference of HTML has none of these.
std::string breaking(std::string code) {
    for (const std::string_view behind : {"/", ":", "@", "_"})
        code = text::replace_all(code, behind, std::string(behind) + "<wbr/>");
    return code;
}

}  // namespace

std::string html_text(std::string_view text) {
    const auto shown = clipped(text::trim(text), kLongestText);
    return xml::attribute(shown, shown.size());
}

std::string html_of(const Span& span) {
    const auto trimmed = text::trim(span.text);
    auto out = html_text(trimmed);
    if (out.empty()) return out;
    if (span.is_code) out = fmt::format("<code>{}</code>", breaking(std::move(out)));
    if (is_link(trimmed))
        out = fmt::format("<a href=\"{}\" rel=\"noreferrer\">{}</a>", html_text(trimmed), out);
    if (span.tone == Tone::plain) return out;
    return fmt::format("<span class=\"tag {}\">{} {}</span>", class_of_tone(span.tone), sign_of(span.tone),
                       out);
}

std::string timeline_html(const Timeline& timeline) {
    if (timeline.lines.empty()) return {};
    const auto behind = months_behind(timeline);
    std::string rows;
    for (const auto& line : timeline.lines)
        rows += fmt::format(
            "<tr><th scope=\"row\">{}</th><td class=\"months\">{}</td><td{}>{}</td><td>{}</td></tr>\n",
            html_text(line.label), mark_svg(timeline, line, behind),
            place_on(timeline, line.day) ? " class=\"short\"" : "", html_of({line.day, line.tone}),
            html_of(Span(line.what)));
    return fmt::format(
        "<table class=\"plain timeline\">\n<thead><tr><th scope=\"col\">what</th><th class=\"months\" scope=\"col\">{}</th>"
        "<th scope=\"col\">when</th><th scope=\"col\">what happens</th></tr></thead>\n<tbody>\n{}</tbody>\n</table>\n",
        months_svg(timeline), rows);
}

}  // namespace cudamatrix::report
