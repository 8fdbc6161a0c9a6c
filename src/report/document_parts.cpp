#include "report/document_parts.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.hpp"

namespace cudamatrix::report {
namespace {

// "2026-11" and each of its days as the first of that month.
std::string first_of_month(std::string_view day) {
    if (day.size() == 7) return std::string(day) + "-01";
    return is_date(day) ? std::string(day.substr(0, 7)) + "-01" : std::string();
}

// Months since the year 0; nothing for what is neither YYYY-MM nor YYYY-MM-DD.
std::optional<std::int64_t> month_number(std::string_view day) {
    const auto first = first_of_month(day);
    if (!is_date(first)) return std::nullopt;
    std::int64_t year = 0, month = 0;
    for (const char c : first.substr(0, 4))
        year = year * 10 + (c - '0');
    for (const char c : first.substr(5, 2))
        month = month * 10 + (c - '0');
    return year * 12 + month;
}

}  // namespace

std::string_view sign_of(Tone tone) {
    static constexpr std::array<std::string_view, 5> signs{"", "✓", "!", "✗", "·"};
    return signs.at(static_cast<std::size_t>(tone));
}

bool is_link(std::string_view text) {
    constexpr std::string_view scheme = "https://";
    return text.size() > scheme.size() && text.size() <= kLongestText && text.starts_with(scheme) &&
           text::is_word(text[scheme.size()]) && text::only(text, "-._~:/?#@!$&()*+,;=%");
}

std::size_t columns_of(const DocumentTable& table) {
    auto columns = table.head.size();
    for (const auto& row : table.rows)
        columns = std::max(columns, row.size());
    return columns;
}

std::string title_of(const DocumentTable& table, std::size_t column) {
    return column < table.head.size() ? table.head[column] : std::string();
}

bool is_number_column(const DocumentTable& table, std::size_t column) {
    return column < table.numbers.size() && table.numbers[column];
}

std::vector<Span> code_lines(const DocumentCode& code) {
    std::string_view rest = code.text;
    while (rest.ends_with('\n') || rest.ends_with('\r'))
        rest.remove_suffix(1);
    std::vector<Span> out;
    bool is_change = false;  // not so in the two lines that name the files
    for (std::string_view line : text::split(rest, '\n')) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        is_change = is_change || (code.language == "diff" && line.starts_with("@@"));
        const auto tone = is_change && line.starts_with('+')   ? Tone::good
                          : is_change && line.starts_with('-') ? Tone::bad
                                                               : Tone::plain;
        out.emplace_back(text::printable(line), tone, true);
    }
    return out;
}

std::string language_of(const DocumentCode& code) {
    return text::only(code.language, "") ? code.language : std::string();
}

std::optional<TimelinePlace> place_on(const Timeline& timeline, std::string_view day) {
    const auto first = month_number(timeline.first), month = month_number(day);
    if (!first || !month || *month >= *first + timeline.months) return std::nullopt;
    if (*month < *first) return TimelinePlace{0, 0, true};
    const auto of_month = day.size() == 10 ? static_cast<unsigned>((day[8] - '0') * 10 + (day[9] - '0')) : 0u;
    return TimelinePlace{static_cast<unsigned>(*month - *first), of_month, false};
}

std::string month_of(const Timeline& timeline, unsigned months) {
    return months_later(first_of_month(timeline.first), months).substr(0, 7);
}

std::string month_letters(const Timeline& timeline) {
    const auto first = month_number(timeline.first);
    if (!first) return {};
    std::string out;
    for (unsigned i = 0; i < timeline.months; ++i)
        out += "DJFMAMJJASON"[(*first + i) % 12];
    return out;
}

std::string timeline_head(const Timeline& timeline) {
    const auto letters = month_letters(timeline);
    return letters.empty() ? letters : fmt::format("{}  from {}", letters, month_of(timeline, 0));
}

std::string timeline_bar(const Timeline& timeline, const Timeline::Line& line) {
    std::string out(timeline.months, '.');
    if (const auto place = place_on(timeline, line.day)) out.at(place->month) = place->is_before ? '<' : 'x';
    return out;
}

std::string timeline_words(const Timeline::Line& line) {
    return std::string(text::trim(fmt::format("{} {}", line.day, line.what)));
}

}  // namespace cudamatrix::report
