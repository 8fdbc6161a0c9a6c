
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
        bool ended = false;
        for (int k = -edits; k <= edits && !ended; k += 2) {
            int x = 0;
            if (edits != 0) {
                const bool down = k == -edits || (k != edits && last(k - 1) < last(k + 1));
                x = down ? last(k + 1) : last(k - 1) + 1;
            }
            while (x < n && x - k < m && same(x, x - k))
                ++x;
            way[static_cast<std::size_t>(k + edits)] = x;
            ended = ended || (x >= n && x - k >= m);
        }
        ways.push_back(std::move(way));
        if (ended) return ways;
    }
    return std::nullopt;
}

// Back along the ways from the end to the start.
std::vector<Edit> edits_along(const std::vector<std::vector<int>>& ways, const Lines& before,
                              const Lines& after) {
    std::vector<Edit> edits;
    auto x = static_cast<int>(before.size()), y = static_cast<int>(after.size());
    const auto keep = [&] { edits.push_back({' ', before[static_cast<std::size_t>(--x)]}); };
    for (auto step = static_cast<int>(ways.size()) - 1; step > 0; --step) {
        const auto& way = ways[static_cast<std::size_t>(step - 1)];
        const auto reached = [&](int k) { return way[static_cast<std::size_t>(k + step - 1)]; };
        const int k = x - y;
        const bool down = k == -step || (k != step && reached(k - 1) < reached(k + 1));
        const int from_k = down ? k + 1 : k - 1;
        const int from_x = reached(from_k), from_y = from_x - from_k;
        while (x > (down ? from_x : from_x + 1) && y > (down ? from_y + 1 : from_y)) {
            --y;
            keep();
        }
        if (down) {
            edits.push_back({'+', after[static_cast<std::size_t>(--y)]});
        } else {
            edits.push_back({'-', before[static_cast<std::size_t>(--x)]});
        }
    }
    while (x > 0)
        keep();
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

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, std::string_view before_name,
                         std::string_view after_name) {
    if (before == after) return {};
    const auto edits = edits_between(lines_of(before), lines_of(after));
    auto out = fmt::format("--- {}\n+++ {}\n", before_name, after_name);
    std::size_t old_line = 0, new_line = 0;  // of edits[at]
    // The lines of edits[at] to `end`; counts them.
    const auto pass = [&](std::size_t& at, std::size_t end) {
        std::string body;
        for (; at < end; ++at) {
            old_line += edits[at].sign != '+' ? 1 : 0;
            new_line += edits[at].sign != '-' ? 1 : 0;
            body.append(1, edits[at].sign).append(edits[at].line);
            if (!edits[at].line.ends_with('\n')) body += "\n\\ No newline at end of file\n";
        }
        return body;
    };
    for (std::size_t at = 0; at < edits.size();) {
        auto change = at;
        while (change < edits.size() && edits[change].sign == ' ')
            ++change;
        if (change == edits.size()) break;
        pass(at, change - at > kContext ? change - kContext : at);
        // Changes that are near enough share a hunk: their context would meet.
        auto end = change;
        for (auto i = change; i < edits.size() && i - end <= 2 * kContext; ++i) {
            if (edits[i].sign != ' ') end = i + 1;
        }
        const auto old_first = old_line, new_first = new_line;
        const auto body = pass(at, std::min(end + kContext, edits.size()));
        out += fmt::format("@@ -{} +{} @@\n{}", range(old_first, old_line - old_first),
                           range(new_first, new_line - new_first), body);
    }
    return out;
}

}  // namespace cudamatrix
