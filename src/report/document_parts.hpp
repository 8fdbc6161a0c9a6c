// What the formats of a document share.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/document.hpp"

namespace cudamatrix::report {

/// Columns of a paragraph, an item or a value of which no more is shown.
inline constexpr std::size_t kLongestText = 2000;
inline constexpr std::size_t kLongestTitle = 200;  ///< the same of a heading

/// What a tone looks like without a colour; empty for plain.
[[nodiscard]] std::string_view sign_of(Tone tone);

/// Whether all of `text` is one https address, in characters that neither Markdown nor HTML gives a meaning.
[[nodiscard]] bool is_link(std::string_view text);

/// As many as the head or the longest row has.
[[nodiscard]] std::size_t columns_of(const DocumentTable& table);
[[nodiscard]] std::string title_of(const DocumentTable& table, std::size_t column);
[[nodiscard]] bool is_number_column(const DocumentTable& table, std::size_t column);

/// The lines as they may be shown. What a diff adds is good, what it takes away is bad.
[[nodiscard]] std::vector<Span> code_lines(const DocumentCode& code);
/// "diff"; empty for what is no plain word.
[[nodiscard]] std::string language_of(const DocumentCode& code);

/// A day on a timeline.
struct TimelinePlace {
    unsigned month = 0;  ///< counted from its first
    unsigned day = 0;    ///< of the month, 0 where none is said
    bool is_before = false;
};
[[nodiscard]] std::optional<TimelinePlace> place_on(const Timeline& timeline, std::string_view day);

/// "2026-11": the month so many after the first; empty where `first` is no month.
[[nodiscard]] std::string month_of(const Timeline& timeline, unsigned months);

/// "NDJFMAMJJASON": a letter for each month; empty where `first` is no month.
[[nodiscard]] std::string month_letters(const Timeline& timeline);
/// "NDJFMAMJJASON  from 2026-11", and "....x........" below it; "<": before the first.
[[nodiscard]] std::string timeline_head(const Timeline& timeline);
[[nodiscard]] std::string timeline_bar(const Timeline& timeline, const Timeline::Line& line);

/// "2027-04 end of life"
[[nodiscard]] std::string timeline_words(const Timeline::Line& line);

}  // namespace cudamatrix::report
