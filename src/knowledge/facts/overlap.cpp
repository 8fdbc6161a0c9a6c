// Whether two values, or two rows, speak of the same releases.
#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"
#include "knowledge/facts/kind.hpp"
#include "knowledge/facts/pep440.hpp"
#include "knowledge/facts/ranges.hpp"

namespace cudamatrix::facts {
namespace {

Kind kind_of(std::string_view table, std::string_view column) {
    for (const auto& each : schema_of(table)->columns) {
        if (each.name == column) return each.kind;
    }
    return Kind::text;
}

// A range of which one end is known is that one release.
std::pair<std::string_view, std::string_view> range(const Row& row, const Side& side) {
    const auto lower = row.text(side.column), upper = row.text(side.upper);
    return {lower.empty() ? upper : lower, upper.empty() ? lower : upper};
}

bool share_a_value(const Row& a, const Row& b, std::string_view column) {
    if (!a.has(column) || !b.has(column)) return a.has(column) == b.has(column);
    const auto values = b.list(column);
    return std::ranges::any_of(a.list(column),
                               [&](auto value) { return std::ranges::count(values, value) != 0; });
}

bool overlap(const Row& a, const Row& b, std::string_view table, const Side& side) {
    if (!side.upper.empty()) {
        const auto [from, to] = range(a, side);
        const auto [other_from, other_to] = range(b, side);
        const auto begins = compare(from, other_to), ends = compare(other_from, to);
        return begins && ends && *begins <= 0 && *ends <= 0;
    }
    if (share_a_value(a, b, side.column)) return true;
    if (kind_of(table, side.column) != Kind::specifiers || !a.has(side.column) || !b.has(side.column))
        return false;
    const auto left = pep440::Specifiers::parse(a.text(side.column));
    const auto right = pep440::Specifiers::parse(b.text(side.column));
    return left && right && !left->excludes(*right);
}

std::string shown(const Row& row, const Side& side) {
    if (!side.upper.empty()) {
        const auto [from, to] = range(row, side);
        return fmt::format("{} to {}", from, to);
    }
    const auto values = row.list(side.column);
    return text::join({values.begin(), values.end()}, ", ");
}

}  // namespace

std::optional<int> compare(std::string_view a, std::string_view b) {
    if (is_of(Kind::month, a) && is_of(Kind::month, b)) {
        const auto length = std::min(a.size(), b.size());
        return a.substr(0, length).compare(b.substr(0, length));
    }
    const auto left = Version::parse(a), right = Version::parse(b);
    if (!left || !right) return std::nullopt;
    if (left->covers(*right) || right->covers(*left) || *left == *right) return 0;
    return *left < *right ? -1 : 1;
}

bool overlap(const Row& a, const Row& b, const Apart& apart) {
    return std::ranges::all_of(apart.sides, [&](const Side& side) {
        return side.column.empty() || overlap(a, b, apart.table, side);
    });
}

std::string sides(const Row& own, const Row& other, const Apart& apart) {
    std::vector<std::string> out;
    for (const auto& side : apart.sides) {
        if (side.column.empty() || (side.upper.empty() && !own.has(side.column))) continue;
        const auto mine = shown(own, side), theirs = shown(other, side);
        out.push_back(fmt::format("{} {}{}", side.column, mine,
                                  mine == theirs ? std::string() : fmt::format(" beside {}", theirs)));
    }
    return text::join(out, "; ");
}

}  // namespace cudamatrix::facts
