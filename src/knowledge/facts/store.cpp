#include "knowledge/facts/store.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/text.hpp"
#include "knowledge/facts/schema.hpp"

namespace cudamatrix {
namespace facts {
namespace {

using text::is_digit;

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

std::uint32_t OwnRows::add(std::string_view text) {
    texts_.push_back({static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(text.size())});
    text_ += text;
    return static_cast<std::uint32_t>(texts_.size() - 1);
}

OwnRows::OwnRows(std::span<const ParsedRow> rows) {
    for (const auto& row : rows) {
        for (const auto& column : row.columns) {
            const auto name = add(column.name);
            const auto first = static_cast<std::uint32_t>(texts_.size());
            for (const auto& value : column.values)
                std::ignore = add(value);
            columns_.push_back(
                {name, first, static_cast<std::uint32_t>(column.values.size()), column.is_list});
        }
    }
    pool_ = {text_.data(), texts_.data(), columns_.data()};
    std::uint32_t first = 0;
    for (const auto& row : rows) {
        const auto count = static_cast<std::uint32_t>(row.columns.size());
        rows_.emplace_back(Row::Columns(pool_, first, count));
        first += count;
    }
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

void Facts::Store::merge(std::size_t table, const facts::ParsedTable& parsed) {
    const auto& own = rows_.emplace_back(parsed.rows).rows();
    auto& rows = tables[table].rows;
    auto& places = where[table];
    for (std::size_t i = 0; i < own.size(); ++i) {
        const auto old = std::find_if(rows.begin(), rows.end(),
                                      [&](const Row& candidate) { return candidate.id() == own[i].id(); });
        if (old == rows.end()) {
            rows.push_back(own[i]);
            places.push_back(parsed.rows[i].where);
        } else {
            *old = own[i];
            places[static_cast<std::size_t>(old - rows.begin())] = parsed.rows[i].where;
        }
    }
    if (parsed.as_of > tables[table].as_of) tables[table].as_of = dates_.emplace_back(parsed.as_of);
}

void Facts::Store::lay(std::size_t table, std::span<const facts::ParsedRow> parsed) {
    for (const auto& row : rows_.emplace_back(parsed).rows()) {
        const auto old = below->by_id.find(row.id());
        if (old == below->by_id.end() || old->second.table != table) {
            tables[table].rows.push_back(row);
            where[table].emplace_back();
        } else if (where[table][old->second.row].file.empty()) {
            tables[table].rows[old->second.row] = row;
        }
    }
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
        if (!rows_.empty()) sort(t);  // embedded tables keep the order of their file, which `check` judges
        for (std::size_t r = 0; r < tables[t].rows.size(); ++r) {
            const auto& row = tables[t].rows[r];
            by_id.emplace(row.id(), Position{t, r});
            if (!has_aliases) continue;
            by_name.emplace(facts::folded(row.text("name")), Position{t, r});
            for (const auto alias : row.list("aliases"))
                by_name.emplace(facts::folded(alias), Position{t, r});
        }
    }
}

std::span<const KnownProblem> Facts::Store::problems(std::string_view rule) const {
    const auto* known = facts::problem_rule(rule);
    if (known == nullptr) return {};
    auto& problems = problems_[static_cast<std::size_t>(known - facts::problem_rules().data())];
    std::call_once(problems.read, [&] {
        const auto table = std::ranges::find(tables, "known_problems", &Table::name);
        if (table == tables.end()) return;
        for (const auto& row : table->rows) {
            if (row.text("rule") != rule) continue;
            if (auto problem = facts::known_problem(row)) problems.rows.push_back(*std::move(problem));
        }
    });
    return problems.rows;
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
