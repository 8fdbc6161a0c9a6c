// Small text helpers, and the only door to fmt.
#pragma once

#include <fmt/format.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudamatrix::text {

[[nodiscard]] constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
[[nodiscard]] constexpr bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}
[[nodiscard]] constexpr bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}
/// An ASCII letter or digit.
[[nodiscard]] constexpr bool is_word(char c) {
    return is_digit(c) || is_lower(c) || is_upper(c);
}
/// Nothing but ASCII letters, digits and the characters of `extra`.
[[nodiscard]] bool only(std::string_view text, std::string_view extra);

[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
[[nodiscard]] std::string_view trim(std::string_view text);

/// The last `most` lines of what trim leaves of `text`; none where that is nothing.
[[nodiscard]] std::vector<std::string> last_lines(std::string_view text, std::size_t most);
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);
[[nodiscard]] std::string lower(std::string_view text);  ///< ASCII only
[[nodiscard]] std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

/// Length of the valid UTF-8 sequence at the start of `text` (no overlong form, no surrogate), 0 if there is
/// none.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

/// The code point of a valid UTF-8 sequence.
[[nodiscard]] std::uint32_t code_point(std::string_view sequence);

/// Byte offset of the first byte that is not valid UTF-8.
[[nodiscard]] std::optional<std::size_t> invalid_utf8(std::string_view text);

/// `text` fit for a terminal or a log line: control characters, escape sequences, invalid UTF-8 and
/// characters that are invisible or change the direction of text become '?', a tab a space.
[[nodiscard]] std::string printable(std::string_view text);

/// Columns that `text` takes on a terminal, counting one for each code point.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// The candidate nearest to `word` (edit distance, case ignored) when it is near enough to be what was meant.
[[nodiscard]] std::optional<std::string> did_you_mean(std::string_view word,
                                                      const std::vector<std::string>& candidates);

/// "did you mean cuda?" of the near candidate, else `otherwise`.
[[nodiscard]] std::string did_you_mean_or(std::string_view word, const std::vector<std::string>& candidates,
                                          std::string otherwise = {});

/// Glob with '*' for any run of characters and '?' for one; everything else literal.
[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text);

/// "1 cell", "6 cells".
[[nodiscard]] std::string count(std::size_t number, std::string_view noun);

/// Bytes in the unit that people read: "812 MB", "1.4 GB" (powers of ten).
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);

/// "Nvidia_cuBLAS.cu12" as "nvidia-cublas-cu12": a Python project's name as indexes compare it (PEP 503).
[[nodiscard]] std::string normalised_project(std::string_view name);

/// "%2B" as "+" (RFC 3986, section 2.1); nothing where an escape is incomplete.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

/// Base64 (RFC 4648, section 4). Nothing for other characters, wrong padding or bits after the end; padding
/// may be left out.
[[nodiscard]] std::string to_base64(std::string_view bytes);
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace cudamatrix::text

namespace cudamatrix {

/// Days from 1970-01-01 to `text` (negative before it); nothing unless `text` is YYYY-MM-DD of a day that
/// exists.
[[nodiscard]] std::optional<std::int64_t> day_number(std::string_view text);

[[nodiscard]] inline bool is_date(std::string_view text) {
    return day_number(text).has_value();
}

/// YYYY-MM-DD so many months after such a day (before it, where they are negative), the last of the month
/// where that is shorter; empty for what is no day.
[[nodiscard]] std::string months_later(std::string_view day, int months);
/// YYYY-MM-DD, the last day of a month that is written YYYY-MM; everything else as it is.
[[nodiscard]] std::string last_day_of(std::string_view day);
/// As months_later, by days.
[[nodiscard]] std::string days_later(std::string_view day, int days);

/// What snapshot services call a time: of a day its first second (2026-11-01 is 20261101T000000Z), of such a
/// time itself. Empty for what is neither.
[[nodiscard]] std::string snapshot_time(std::string_view text);

// What differs between two texts, line by line.

/// The unified diff (three lines of context, head lines with the two names); empty where the texts are equal.
/// Up to 1,000 edits it is the shortest (E. W. Myers, "An O(ND) Difference Algorithm and Its Variations",
/// 1986); beyond, everything between the first and the last difference is replaced.
[[nodiscard]] std::string unified_diff(std::string_view before, std::string_view after,
                                       std::string_view before_name, std::string_view after_name);

}  // namespace cudamatrix
