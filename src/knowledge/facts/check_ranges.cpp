#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/version.hpp"
#include "knowledge/facts/known_problems.hpp"
#include "knowledge/facts/pep440.hpp"
#include "knowledge/facts/ranges.hpp"
#include "knowledge/facts/schema.hpp"

namespace cudamatrix::facts {
namespace {

struct Place {
    const Table* table = nullptr;
    std::size_t row = 0;
    [[nodiscard]] const Row& operator*() const { return table->rows[row]; }
    [[nodiscard]] const Row* operator->() const { return &table->rows[row]; }
    friend bool operator==(const Place& a, const Place& b) { return a.table == b.table && a.row == b.row; }
};

/// One value of a row, and the column that it stands in.
struct Cell {
    Place at;
    std::string_view column, value;
};

bool is_above(std::string_view a, std::string_view b) {
    return compare(a, b).value_or(0) > 0;
}

/// At which end a range of releases has none: "older", "newer", "both", or "" for neither.
std::string_view open_end(const pep440::Specifiers& versions) {
    static const auto oldest = pep440::Version::parse("0.dev0"), newest = pep440::Version::parse("1!0");
    const bool older = versions.admits(*oldest), newer = versions.admits(*newest);
    return older && newer ? "both" : older ? "older" : newer ? "newer" : "";
}

class RangeChecker {
  public:
    RangeChecker(std::span<const Table> tables, const std::vector<std::vector<Location>>& where,
                 std::string_view today)
        : tables_(tables), where_(where), today_(today) {}

    std::vector<Diagnostic> run() {
        const auto& all = all_ranges();
        specifiers();
        past({{}, "as_of"});
        for (const auto& each : all.past)
            past(each);
        for (const auto& each : all.orders)
            order(each);
        for (const auto& each : all.parts)
            part(each);
        for (const auto& each : all.rises)
            rise(each);
        for (const auto& each : all.apart)
            apart(each);
        problems_apart();
        ends();
        for (const auto& each : all.gapless)
            gapless(each);
        for (const auto& each : all.bounds)
            bound(each);
        for (const auto& each : all.foreign)
            foreign(each);
        return std::move(found_);
    }

  private:
    [[nodiscard]] const Location& overlaid(const Place& at) const {
        return where_[static_cast<std::size_t>(at.table - tables_.data())][at.row];
    }
    [[nodiscard]] bool is_overlaid(const Place& at) const { return !overlaid(at).file.empty(); }

    void mistake(const Place& at, std::string_view message) {
        found_.push_back(Diagnostic::error(fmt::format("row '{}': {}", at->id(), message),
                                           place_of(*at.table, overlaid(at))));
    }

    /// The rows of a table, or of all where it is nameless.
    [[nodiscard]] std::vector<Place> rows(std::string_view table) const {
        std::vector<Place> out;
        for (const auto& each : tables_) {
            if (!table.empty() && each.name != table) continue;
            for (std::size_t row = 0; row < each.rows.size(); ++row)
                out.push_back({&each, row});
        }
        return out;
    }

    // Of two rows the later is wrong, unless only the other one is of an overlay.
    void ascending(const Cell& lower, const Cell& upper, bool strict, bool blames_lower = false) {
        const auto order = compare(lower.value, upper.value);
        if (!order || *order < (strict ? 0 : 1)) return;
        if (is_overlaid(lower.at) != is_overlaid(upper.at)) blames_lower = is_overlaid(lower.at);
        const auto& wrong = blames_lower ? lower : upper;
        const auto& other = blames_lower ? upper : lower;
        const auto* wanted = blames_lower ? strict ? "less than" : "at most"
                             : strict     ? "more than"
                                          : "at least";
        mistake(wrong.at,
                fmt::format("column '{}' holds '{}': expected {} '{}', {} {}{}", wrong.column, wrong.value,
                            wanted, other.value, wrong.at == other.at ? "its" : "the", other.column,
                            wrong.at == other.at ? "" : fmt::format(" of row '{}'", other.at->id())));
    }

    void specifiers() {
        std::set<std::string_view> good;  // many rows say the same
        for (const auto& table : tables_) {
            const auto* schema = schema_of(table.name);
            if (schema == nullptr) continue;
            for (const auto& column : schema->columns) {
                if (column.kind != Kind::specifiers) continue;
                for (const auto& row : rows(table.name)) {
                    const auto value = row->text(column.name);
                    if (good.contains(value)) continue;
                    const auto clauses = pep440::Specifiers::parse(value);
                    if (clauses && clauses->excludes(*clauses)) {
                        mistake(row,
                                fmt::format("column '{}' holds '{}': expected clauses that a version meets",
                                            column.name, value));
                    } else {
                        good.insert(value);
                    }
                }
            }
        }
    }

    void past(const Past& past) {
        for (const auto& row : rows(past.table)) {
            const auto day = row->text(past.column);
            if (is_of(Kind::month, day) && is_above(day, today_))
                mistake(row, fmt::format("column '{}' holds '{}': expected no day after today, {}",
                                         past.column, day, today_));
        }
    }

    void order(const Order& order) {
        for (const auto& row : rows(order.table))
            ascending({row, order.lower, row->text(order.lower)}, {row, order.upper, row->text(order.upper)},
                      order.strict, true);
    }

    void part(const Part& part) {
        for (const auto& row : rows(part.table)) {
            const auto whole = Version::parse(row->text(part.whole));
            for (const auto value : row->list(part.part)) {
                const auto version = Version::parse(value);
                if (whole && version && !whole->covers(*version))
                    mistake(row, fmt::format("column '{}' holds '{}': expected one of '{}', its {}",
                                             part.part, value, whole->text(), part.whole));
            }
        }
    }

    /// The rows that have a version in the column, in its order.
    [[nodiscard]] std::vector<std::pair<Version, Place>> along(std::string_view table,
                                                               std::string_view column) const {
        std::vector<std::pair<Version, Place>> out;
        for (const auto& row : rows(table)) {
            if (auto version = Version::parse(row->text(column))) out.emplace_back(std::move(*version), row);
        }
        std::stable_sort(out.begin(), out.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        return out;
    }

    void rise(const Rise& rise) {
        std::map<std::string, Cell, std::less<>> before;
        for (const auto& [version, row] : along(rise.table, rise.along)) {
            if (!row->has(rise.column)) continue;
            const auto group = fmt::format("{} {}", row->text(rise.within),
                                           rise.each_minor ? version.major_minor() : std::string());
            const Cell cell{row, rise.column, row->text(rise.column)};
            const auto known = before.find(group);
            if (known != before.end()) ascending(known->second, cell, rise.strict);
            before.insert_or_assign(group, cell);
        }
    }

    void apart(const Apart& apart) {
        const auto all = rows(apart.table);
        for (auto later = all.begin(); later != all.end(); ++later) {
            for (auto earlier = all.begin(); earlier != later; ++earlier) {
                if (!overlap(**earlier, **later, apart)) continue;
                const bool blames_earlier = is_overlaid(*earlier) && !is_overlaid(*later);
                const auto& wrong = blames_earlier ? *earlier : *later;
                const auto& other = blames_earlier ? *later : *earlier;
                mistake(wrong, fmt::format("it overlaps row '{}': {}: expected one of these apart",
                                           other->id(), sides(*wrong, *other, apart)));
            }
        }
    }

    void problems_apart() {
        std::vector<std::pair<Place, KnownProblem>> before;
        for (const auto& later : rows("known_problems")) {
            auto problem = known_problem(*later);
            const auto* rule = problem_rule(later->text("rule"));
            if (!problem || (rule != nullptr && rule->adds_up)) continue;
            for (const auto& [earlier, other] : before) {
                if (problem->row.text("rule") != other.row.text("rule") || !overlap(*problem, other))
                    continue;
                const bool blames_earlier = is_overlaid(earlier) && !is_overlaid(later);
                mistake(blames_earlier ? earlier : later,
                        fmt::format("it overlaps row '{}': expected conditions that no cell meets both of",
                                    (blames_earlier ? later : earlier)->id()));
            }
            before.emplace_back(later, *std::move(problem));
        }
    }

    /// Where `versions` has no end, `open` says so: what was written of the releases of its day would
    /// otherwise be believed of those of any other. What a known problem is of has ends; what it meets there
    /// need not.
    void ends() {
        for (const auto& row : rows({})) {
            const auto text = row->text("versions");
            const auto versions = pep440::Specifiers::parse(text);
            if (text.empty() || !versions) continue;
            const auto open = open_end(*versions);
            if (row->text("open") == open) continue;
            mistake(row, open.empty()
                             ? fmt::format("column 'open' holds '{}': expected none, '{}' has two ends",
                                           row->text("open"), text)
                             : fmt::format("column 'versions' holds '{}': expected two ends, or open: {}",
                                           text, open));
        }
        for (const auto& row : rows("known_problems")) {
            const auto problem = known_problem(*row);
            if (!problem || problem->when.empty() || problem->when.front().package.empty()) continue;
            if (const auto open = open_end(problem->when.front().versions); !open.empty())
                mistake(row, fmt::format("its `when` has no end for {} releases of {}: expected two ends",
                                         open == "both" ? "older and newer" : open,
                                         problem->when.front().package));
        }
    }

    /// Whether a row has the value in "table.column".
    [[nodiscard]] bool stands(std::string_view value, std::string_view where) const {
        const auto dot = where.find('.');
        return !where.empty() && std::ranges::any_of(rows(where.substr(0, dot)), [&](const Place& row) {
            return std::ranges::count(row->list(where.substr(dot + 1)), value) != 0;
        });
    }

    void gapless(const Gapless& gapless) {
        std::optional<std::pair<Version, Place>> before;
        for (const auto& [lower, row] : along(gapless.table, gapless.lower)) {
            const auto upper = Version::parse(row->text(gapless.upper));
            if (!upper) continue;
            if (before && before->first.major() == lower.major()) {
                auto next = before->first.minor() + 1;
                while (next < lower.minor() &&
                       stands(fmt::format("{}.{}", lower.major(), next), gapless.skipped))
                    ++next;
                if (next < lower.minor()) {
                    const bool blames_before = is_overlaid(before->second) && !is_overlaid(row);
                    mistake(blames_before ? before->second : row,
                            fmt::format("no row has '{}.{}', between '{}' and '{}': expected it{}",
                                        lower.major(), next, before->first.text(), lower.text(),
                                        gapless.skipped.empty()
                                            ? " there"
                                            : fmt::format(" there or in {}", gapless.skipped)));
                }
            }
            before.emplace(*upper, row);
        }
    }

    void bound(const Bound& bound) {
        for (const auto& row : rows(bound.table)) {
            if (!row->has(bound.column)) continue;
            for (const auto& other : rows(bound.other)) {
                if (!other->has(bound.bound)) continue;
                const auto keys = other->list(bound.key);
                if (std::ranges::none_of(row->list(bound.via),
                                         [&](auto via) { return std::ranges::count(keys, via) != 0; }))
                    continue;
                const Cell limit{other, bound.bound, other->text(bound.bound)};
                for (const auto value : row->list(bound.column)) {
                    const Cell cell{row, bound.column, value};
                    if (bound.is == Bound::Is::at_least)
                        ascending(limit, cell, false, false);
                    else
                        ascending(cell, limit, false, true);
                }
            }
        }
    }

    void foreign(const Foreign& foreign) {
        for (const auto& row : rows(foreign.table)) {
            for (const auto value : row->list(foreign.column)) {
                if (stands(value, foreign.other))
                    mistake(row, fmt::format("column '{}' names '{}': expected none that {} has",
                                             foreign.column, value, foreign.other));
            }
        }
    }

    std::span<const Table> tables_;
    const std::vector<std::vector<Location>>& where_;
    std::string_view today_;
    std::vector<Diagnostic> found_;
};

}  // namespace

Location place_of(const Table& table, const Location& overlaid) {
    return overlaid.file.empty() ? Location{fmt::format("matrix/facts/{}.yaml", table.name), 0, 0, 1}
                                 : overlaid;
}

std::vector<Diagnostic> check_ranges(std::span<const Table> tables,
                                     const std::vector<std::vector<Location>>& where,
                                     std::string_view today) {
    return RangeChecker(tables, where, today).run();
}

}  // namespace cudamatrix::facts
