#include "base/text.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <numeric>

namespace cudamatrix::text {

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (;;) {
        const auto end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::string_view trim(std::string_view text) {
    constexpr std::string_view space = " \t\r\n";
    const auto first = text.find_first_not_of(space);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(space) - first + 1);
}

std::vector<std::string> last_lines(std::string_view text, std::size_t most) {
    text = trim(text);
    if (text.empty()) return {};
    auto lines = split(text, '\n');
    if (lines.size() > most) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
    return lines;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    std::string out;
    for (const auto& part : parts)
        out.append(&part == parts.data() ? "" : separator).append(part);
    return out;
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (is_upper(c)) c = static_cast<char>(c - 'A' + 'a');
    return out;
}

bool only(std::string_view text, std::string_view extra) {
    return std::all_of(text.begin(), text.end(),
                       [&](char c) { return is_word(c) || extra.find(c) != std::string_view::npos; });
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
    std::string out;
    if (from.empty()) return out.append(text);
    for (;;) {
        const auto at = text.find(from);
        out += text.substr(0, at);
        if (at == std::string_view::npos) return out;
        out += to;
        text.remove_prefix(at + from.size());
    }
}

std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto tail = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
        return i < text.size() && byte(i) >= low && byte(i) <= high;
    };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead <= 0xDF) return tail(1) ? 2 : 0;
    if (lead >= 0xE0 && lead <= 0xEF)
        return tail(1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF) && tail(2) ? 3 : 0;
    if (lead >= 0xF0 && lead <= 0xF4)
        return tail(1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF) && tail(2) && tail(3) ? 4 : 0;
    return 0;
}

std::uint32_t code_point(std::string_view sequence) {
    const auto lead = static_cast<unsigned char>(sequence.front());
    if (sequence.size() == 1) return lead;
    std::uint32_t value = lead & (0x7Fu >> sequence.size());
    for (const char c : sequence.substr(1))
        value = value << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
    return value;
}

namespace {

// Control characters, what is invisible or changes the direction or the lines of the text around it, and the
// code points that are no characters (YAML refuses U+FFFE and U+FFFF).
bool unprintable(std::uint32_t code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C ||
           (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF || (code >= 0xFFF9 && code <= 0xFFFB) ||
           (code >= 0xE0000 && code <= 0xE007F) || (code >= 0xFDD0 && code <= 0xFDEF) ||
           (code & 0xFFFEu) == 0xFFFEu;
}

}  // namespace

std::optional<std::size_t> invalid_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto length = utf8_length(text.substr(at));
        if (length == 0) return at;
        at += length;
    }
    return std::nullopt;
}

std::string printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const auto length = utf8_length(text.substr(at));
        if (text[at] == '\t') {
            out += ' ';
        } else if (length == 0 || unprintable(code_point(text.substr(at, length)))) {
            out += '?';
        } else {
            out += text.substr(at, length);
        }
        at += std::max<std::size_t>(length, 1);
    }
    return out;
}

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    for (std::size_t at = 0; at < text.size(); ++width)
        at += std::max<std::size_t>(utf8_length(text.substr(at)), 1);
    return width;
}

std::optional<std::string> did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
    const auto wanted = lower(word);
    // Far enough for one slip in a short word and three in a long one; further guesses help nobody.
    const std::size_t limit = std::min<std::size_t>(3, wanted.size() / 3 + 1);
    std::optional<std::string> best;
    std::size_t best_distance = limit + 1;
    for (const auto& candidate : candidates) {
        const auto other = lower(candidate);
        const std::size_t shorter = std::min(wanted.size(), other.size());
        if (std::max(wanted.size(), other.size()) - shorter > limit) continue;
        std::vector<std::size_t> row(other.size() + 1);
        std::iota(row.begin(), row.end(), std::size_t{0});
        for (std::size_t i = 1; i <= wanted.size(); ++i) {
            std::size_t diagonal = row[0];
            row[0] = i;
            for (std::size_t j = 1; j <= other.size(); ++j) {
                const std::size_t substitute = diagonal + (wanted[i - 1] == other[j - 1] ? 0 : 1);
                diagonal = row[j];
                row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
            }
        }
        if (row.back() < best_distance) {
            best_distance = row.back();
            best = candidate;
        }
    }
    return best;
}

std::string did_you_mean_or(std::string_view word, const std::vector<std::string>& candidates,
                            std::string otherwise) {
    const auto near = did_you_mean(word, candidates);
    return near ? fmt::format("did you mean {}?", *near) : std::move(otherwise);
}

bool glob_match(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            mark = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
}

std::string count(std::size_t number, std::string_view noun) {
    return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string human_bytes(std::uint64_t bytes) {
    // The limits are where rounding would give 1000 of the smaller unit.
    if (bytes >= 999'500'000) return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
    if (bytes >= 999'500) return fmt::format("{} MB", (bytes + 500'000) / 1'000'000);
    if (bytes >= 1'000) return fmt::format("{} kB", (bytes + 500) / 1'000);
    return fmt::format("{} B", bytes);
}

std::string normalised_project(std::string_view name) {
    std::string out;
    for (const char c : lower(name)) {
        const bool separator = c == '-' || c == '_' || c == '.';
        if (!separator || !out.ends_with('-')) out += separator ? '-' : c;
    }
    return out;
}

namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        unsigned char byte = 0;
        const auto* digits = text.data() + i + 1;
        if (i + 2 >= text.size() || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2)
            return std::nullopt;
        out += static_cast<char>(byte);
        i += 2;
    }
    return out;
}

std::string to_base64(std::string_view bytes) {
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const auto group = bytes.substr(i, 3);
        std::uint32_t bits = 0;
        for (std::size_t j = 0; j < 3; ++j)
            bits = bits << 8U | (j < group.size() ? static_cast<std::uint8_t>(group[j]) : 0U);
        for (std::size_t j = 0; j < 4; ++j)
            out += j <= group.size() ? kDigits[bits >> (18 - 6 * j) & 63U] : '=';
    }
    return out;
}

std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 == 0) {
        for (int i = 0; i < 2 && text.ends_with('='); ++i)
            text.remove_suffix(1);
    }
    if (text.size() % 4 == 1) return std::nullopt;
    std::string out;
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (const char c : text) {
        const auto digit = kDigits.find(c);
        if (digit == std::string_view::npos) return std::nullopt;
        bits = bits << 6U | static_cast<std::uint32_t>(digit);
        held += 6;
        if (held < 8) continue;
        held -= 8;
        out += static_cast<char>(bits >> held & 0xffU);
    }
    if ((bits & ((1U << held) - 1U)) != 0) return std::nullopt;
    return out;
}

}  // namespace cudamatrix::text

namespace cudamatrix {

std::optional<std::int64_t> day_number(std::string_view text) {
    const auto number = [&](std::size_t at, std::size_t size) {
        int value = 0;
        const auto digits = text.substr(at, size);
        for (const char c : digits)
            value = value * 10 + (c - '0');
        return std::all_of(digits.begin(), digits.end(), text::is_digit) ? value : -1;
    };
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
    const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
    const std::chrono::year_month_day date{std::chrono::year(year),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (year < 0 || month < 0 || day < 0 || !date.ok()) return std::nullopt;
    return std::chrono::sys_days(date).time_since_epoch().count();
}

namespace {

std::string text_of(std::chrono::year_month_day date) {
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

}  // namespace

std::string months_later(std::string_view day, int months) {
    const auto number = day_number(day);
    if (!number) return {};
    const std::chrono::year_month_day from{std::chrono::sys_days{std::chrono::days{*number}}};
    auto date = from + std::chrono::months(months);
    if (!date.ok()) date = date.year() / date.month() / std::chrono::last;
    return text_of(date);
}

std::string days_later(std::string_view day, int days) {
    const auto number = day_number(day);
    return number ? text_of(std::chrono::sys_days{std::chrono::days{*number + days}}) : std::string();
}

std::string last_day_of(std::string_view day) {
    const auto first = std::string(day) + "-01";
    return day.size() == 7 && is_date(first) ? days_later(months_later(first, 1), -1) : std::string(day);
}

std::string snapshot_time(std::string_view text) {
    if (is_date(text))
        return fmt::format("{}{}{}T000000Z", text.substr(0, 4), text.substr(5, 2), text.substr(8));
    if (text.size() != 16 || text[8] != 'T' || text[15] != 'Z') return {};
    const auto number = [&](std::size_t from, int below) {
        const char tens = text[from];
        const char ones = text[from + 1];
        return text::is_digit(tens) && text::is_digit(ones) && (tens - '0') * 10 + ones - '0' < below;
    };
    const auto day = fmt::format("{}-{}-{}", text.substr(0, 4), text.substr(4, 2), text.substr(6, 2));
    return is_date(day) && number(9, 24) && number(11, 60) && number(13, 60) ? std::string(text)
                                                                             : std::string();
}

}  // namespace cudamatrix
