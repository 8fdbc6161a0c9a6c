#include "base/line_diff.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/text.hpp"

namespace cudamatrix {
namespace {

using Lines = std::vector<std::string_view>;

constexpr int kMostEdits = 1000;
constexpr std::size_t kContext = 3;

// With their newlines: a last line without one differs from the same line with one.
Lines lines_of(std::string_view text) {
    Lines lines;
    while (!text.empty()) {
        const auto newline = text.find('\n');
        const auto size = newline == std::string_view::npos ? text.size() : newline + 1;
        lines.push_back(text.substr(0, size));
        text.remove_prefix(size);
    }
    return lines;
}

// One line of the diff: ' ' in both, '-' only before, '+' only after.
struct Edit {
    char sign = ' ';
    std::string_view line;
};

// The ways that reach furthest after 0, 1, 2 ... edits; way[k + edits] is the furthest line of `before` on
// diagonal k. nullopt: more than kMostEdits.
std::optional<std::vector<std::vector<int>>> furthest_ways(const Lines& before, const Lines& after) {
    const auto n = static_cast<int>(before.size()), m = static_cast<int>(after.size());
    std::vector<std::vector<int>> ways;
    const auto same = [&](int x, int y) {
        return before[static_cast<std::size_t>(x)] == after[static_cast<std::size_t>(y)];
    };
    for (int edits = 0; edits <= std::min(n + m, kMostEdits); ++edits) {
        std::vector<int> way(static_cast<std::size_t>(2 * edits + 1));
        const auto last = [&](int k) { return ways.back()[static_cast<std::size_t>(k + edits - 1)]; };
        for (int k = -edits; k <= edits; k += 2) {
            int x = 0;
            if (edits != 0) {
                const bool down = k == -edits || (k != edits && last(k - 1) < last(k + 1));
                x = down ? last(k + 1) : last(k - 1) + 1;
            }
            while (x < n && x - k < m && same(x, x - k))
                ++x;
            way[static_cast<std::size_t>(k + edits)] = x;
            if (x >= n && x - k >= m) {
                ways.push_back(std::move(way));
                return ways;
            }
        }
        ways.push_back(std::move(way));
    }
    return std::nullopt;
}

// Back along the ways from the end to the start.
std::vector<Edit> edits_along(const std::vector<std::vector<int>>& ways, const Lines& before,
                              const Lines& after) {
    std::vector<Edit> edits;
    auto x = static_cast<int>(before.size()), y = static_cast<int>(after.size());
    const auto old_line = [&](int at) { return before[static_cast<std::size_t>(at)]; };
    const auto new_line = [&](int at) { return after[static_cast<std::size_t>(at)]; };
    for (auto step = static_cast<int>(ways.size()) - 1; step > 0; --step) {
        const auto& way = ways[static_cast<std::size_t>(step - 1)];
        const auto reached = [&](int k) { return way[static_cast<std::size_t>(k + step - 1)]; };
        const int k = x - y;
        const bool down = k == -step || (k != step && reached(k - 1) < reached(k + 1));
        const int from_k = down ? k + 1 : k - 1;
        const int from_x = reached(from_k), from_y = from_x - from_k;
        while (x > (down ? from_x : from_x + 1) && y > (down ? from_y + 1 : from_y)) {
            --y;
            edits.push_back({' ', old_line(--x)});
        }
        if (down) {
            edits.push_back({'+', new_line(--y)});
        } else {
            edits.push_back({'-', old_line(--x)});
        }
    }
    while (x > 0)
        edits.push_back({' ', old_line(--x)});
    std::reverse(edits.begin(), edits.end());
    return edits;
}

std::vector<Edit> edits_between(Lines before, Lines after) {
    std::vector<Edit> head, tail;
    while (!before.empty() && !after.empty() && before.back() == after.back()) {
        tail.push_back({' ', before.back()});
        before.pop_back();
        after.pop_back();
    }
    std::size_t same = 0;
    while (same < before.size() && same < after.size() && before[same] == after[same])
        head.push_back({' ', before[same++]});
    before.erase(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(same));
    after.erase(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(same));
    if (const auto ways = furthest_ways(before, after)) {
        const auto middle = edits_along(*ways, before, after);
        head.insert(head.end(), middle.begin(), middle.end());
    } else {
        for (const auto line : before)
            head.push_back({'-', line});
        for (const auto line : after)
            head.push_back({'+', line});
    }
    head.insert(head.end(), tail.rbegin(), tail.rend());
    return head;
}

// "12,3": first line and number of lines; an empty range names the line before it.
std::string range(std::size_t first, std::size_t count) {
    if (count == 1) return fmt::format("{}", first + 1);
    return fmt::format("{},{}", count == 0 ? first : first + 1, count);
}

std::string hunk(const std::vector<Edit>& edits, std::size_t begin, std::size_t end, std::size_t old_first,
                 std::size_t new_first) {
    std::size_t old_count = 0, new_count = 0;
    std::string body;
    for (auto i = begin; i < end; ++i) {
        old_count += edits[i].sign != '+' ? 1 : 0;
        new_count += edits[i].sign != '-' ? 1 : 0;
        body += edits[i].sign;
        body += edits[i].line;
        if (!edits[i].line.ends_with('\n')) body += "\n\\ No newline at end of file\n";
    }
    return fmt::format("@@ -{} +{} @@\n", range(old_first, old_count), range(new_first, new_count)) + body;
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, std::string_view before_name,
                         std::string_view after_name) {
    if (before == after) return {};
    const auto edits = edits_between(lines_of(before), lines_of(after));
    auto out = fmt::format("--- {}\n+++ {}\n", before_name, after_name);
    std::size_t old_line = 0, new_line = 0;  // of edits[at]
    const auto pass = [&](const Edit& edit) {
        old_line += edit.sign != '+' ? 1 : 0;
        new_line += edit.sign != '-' ? 1 : 0;
    };
    for (std::size_t at = 0; at < edits.size();) {
        auto change = at;
        while (change < edits.size() && edits[change].sign == ' ')
            ++change;
        if (change == edits.size()) break;
        const auto begin = change - at > kContext ? change - kContext : at;
        // Changes that are near enough share a hunk: their context would meet.
        auto end = change;
        for (auto i = change; i < edits.size() && i - end <= 2 * kContext; ++i) {
            if (edits[i].sign != ' ') end = i + 1;
        }
        end = std::min(end + kContext, edits.size());
        for (; at < begin; ++at)
            pass(edits[at]);
        out += hunk(edits, begin, end, old_line, new_line);
        for (; at < end; ++at)
            pass(edits[at]);
    }
    return out;
}

}  // namespace cudamatrix
