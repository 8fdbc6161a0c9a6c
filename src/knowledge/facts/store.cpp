#include "knowledge/facts/store.hpp"

#include <algorithm>
#include <numeric>

#include "base/text.hpp"
#include "knowledge/facts/schema.hpp"

namespace cudamatrix {
namespace facts {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// The run of digits at the start of `text`, without leading zeros; `text` moves behind it.
std::string_view take_number(std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && is_digit(text[end]))
        ++end;
    auto number = text.substr(0, end);
    text.remove_prefix(end);
    while (number.size() > 1 && number.front() == '0')
        number.remove_prefix(1);
    return number;
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
    while (!a.empty() && !b.empty()) {
        if (is_digit(a.front()) && is_digit(b.front())) {
            const auto x = take_number(a);
            const auto y = take_number(b);
            if (x.size() != y.size()) return x.size() < y.size();
            if (x != y) return x < y;
        } else {
            if (a.front() != b.front()) return a.front() < b.front();
            a.remove_prefix(1);
            b.remove_prefix(1);
        }
    }
    return a.size() < b.size();
}

std::string folded(std::string_view name) {
    auto out = text::lower(name);
    std::erase_if(out, [](char c) { return c == ' ' || c == '-'; });
    return out;
}

}  // namespace facts

namespace {

bool has_aliases_column(std::string_view table) {
    const auto* schema = facts::schema_of(table);
    return schema != nullptr && std::ranges::any_of(schema->columns, [](const facts::Column& column) {
               return column.name == "aliases";
           });
}

}  // namespace

void Facts::Store::merge(std::size_t table, facts::ParsedTable parsed) {
    const auto& kept = texts_.emplace_back(std::move(parsed));
    auto& rows = tables[table].rows;
    auto& places = where[table];
    for (const auto& row : kept.rows) {
        auto& columns = columns_.emplace_back();
        for (const auto& column : row.columns) {
            const auto& values = values_.emplace_back(column.values.begin(), column.values.end());
            columns.push_back({column.name, values, column.is_list});
        }
        const Row laid(columns);
        const auto old = std::find_if(rows.begin(), rows.end(),
                                      [&](const Row& candidate) { return candidate.id() == laid.id(); });
        if (old == rows.end()) {
            rows.push_back(laid);
            places.push_back(row.where);
        } else {
            *old = laid;
            places[static_cast<std::size_t>(old - rows.begin())] = row.where;
        }
    }
    if (kept.as_of > tables[table].as_of) tables[table].as_of = kept.as_of;
}

void Facts::Store::sort(std::size_t table) {
    auto& rows = tables[table].rows;
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return facts::natural_less(rows[a].id(), rows[b].id());
    });
    std::vector<Row> sorted;
    std::vector<Location> places;
    for (const auto index : order) {
        sorted.push_back(rows[index]);
        places.push_back(where[table][index]);
    }
    rows = std::move(sorted);
    where[table] = std::move(places);
}

void Facts::Store::finish() {
    std::size_t rows = 0;
    for (const auto& table : tables)
        rows += table.rows.size();
    by_id.reserve(rows);
    for (std::size_t t = 0; t < tables.size(); ++t) {
        const bool has_aliases = has_aliases_column(tables[t].name);
        if (!texts_.empty()) sort(t);  // embedded tables keep the order of their file, which `check` judges
        for (std::size_t r = 0; r < tables[t].rows.size(); ++r) {
            const auto& row = tables[t].rows[r];
            by_id.emplace(row.id(), Position{t, r});
            if (tables[t].name == "known_problems") {
                if (auto problem = facts::known_problem(row))
                    problems[row.text("rule")].push_back(*std::move(problem));
            }
            if (!has_aliases) continue;
            by_name.emplace(facts::folded(row.text("name")), Position{t, r});
            for (const auto alias : row.list("aliases"))
                by_name.emplace(facts::folded(alias), Position{t, r});
        }
    }
}

std::span<const PackageRelease> Facts::Store::releases(std::string_view package) const {
    const std::lock_guard lock(releases_mutex_);
    auto found = releases_.find(package);
    if (found == releases_.end())
        found = releases_.emplace(std::string(package), read_releases(package)).first;
    return found->second;
}

std::vector<PackageRelease> Facts::Store::read_releases(std::string_view package) const {
    const auto table =
        std::ranges::find_if(tables, [](const Table& each) { return each.name == "package_releases"; });
    std::vector<PackageRelease> out;
    if (table == tables.end()) return out;
    // The rows are sorted by id.
    const auto prefix = fmt::format("package-{}-", package);
    auto row = std::ranges::partition_point(
        table->rows, [&](const Row& each) { return facts::natural_less(each.id(), prefix); });
    // "package-cuda-toolkit-12.0" has the prefix of a package named cuda, too.
    for (; row != table->rows.end() && row->id().starts_with(prefix) && row->text("package") == package;
         ++row) {
        const auto add = [&](std::string_view text) {
            if (auto version = pep440::Version::parse(text)) out.push_back({text, *std::move(version), *row});
        };
        add(row->text("version"));
        for (const auto text : row->list("also"))
            add(text);
    }
    const auto is_before = [](const PackageRelease& a, const PackageRelease& b) {
        if (a.version < b.version || b.version < a.version) return a.version < b.version;
        return !a.row.has("also") && b.row.has("also");
    };
    std::ranges::stable_sort(out, is_before);
    const auto is_same = [](const PackageRelease& a, const PackageRelease& b) { return a.text == b.text; };
    out.erase(std::unique(out.begin(), out.end(), is_same), out.end());
    return out;
}

}  // namespace cudamatrix
