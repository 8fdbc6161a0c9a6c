#include "advise/diff/fact_changes.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.hpp"

namespace cudamatrix::diff {
namespace {

// Columns that say from where and when something is known, not what.
constexpr std::array<std::string_view, 2> kOfLooking{"as_of", "source"};

std::string text_of(const facts::Values& values) {
    return text::join({values.begin(), values.end()}, ", ");
}

std::vector<ColumnChange> changed_columns(const Row& before, const Row& now) {
    std::vector<ColumnChange> out;
    for (const auto& column : now.columns()) {
        auto old = text_of(before.list(column.name));
        auto text = text_of(column.values);
        if (old != text) out.push_back({std::string(column.name), std::move(old), std::move(text)});
    }
    for (const auto& column : before.columns()) {
        if (!now.has(column.name)) out.push_back({std::string(column.name), text_of(column.values), {}});
    }
    return out;
}

FactChange change_of(RowChange change, std::string_view table, const Row& row) {
    auto known = row.ref();
    return {change, std::string(table),       std::move(known.id),
            {},     std::move(known.sources), std::move(known.as_of)};
}

using Rows = std::map<std::string_view, Row>;

Rows rows_of(std::span<const Row> rows) {
    Rows out;
    for (const auto& row : rows)
        out.emplace(row.id(), row);
    return out;
}

}  // namespace

std::string_view to_string(RowChange change) {
    switch (change) {
        case RowChange::added:
            return "added";
        case RowChange::gone:
            return "gone";
        case RowChange::changed:
            return "changed";
        case RowChange::checked:
            return "checked";
    }
    return "changed";
}

std::vector<FactChange> compare_facts(std::span<const Table> before, std::span<const Table> now) {
    std::vector<FactChange> out;
    const auto compare_table = [&](std::string_view name, std::span<const Row> then,
                                   std::span<const Row> rows) {
        auto old = rows_of(then);
        for (const auto& row : rows) {
            const auto found = old.find(row.id());
            if (found == old.end()) {
                out.push_back(change_of(RowChange::added, name, row));
                continue;
            }
            auto columns = changed_columns(found->second, row);
            old.erase(found);
            if (columns.empty()) continue;
            const bool says_the_same = std::ranges::all_of(
                columns, [](const auto& column) { return std::ranges::count(kOfLooking, column.name) != 0; });
            auto change = change_of(says_the_same ? RowChange::checked : RowChange::changed, name, row);
            change.columns = std::move(columns);
            out.push_back(std::move(change));
        }
        for (const auto& [id, row] : old)
            out.push_back(change_of(RowChange::gone, name, row));
    };
    for (const auto& table : now) {
        const auto then = std::ranges::find(before, table.name, &Table::name);
        compare_table(table.name, then == before.end() ? std::span<const Row>() : std::span(then->rows),
                      table.rows);
    }
    for (const auto& table : before) {
        if (std::ranges::find(now, table.name, &Table::name) == now.end())
            compare_table(table.name, table.rows, {});
    }
    return out;
}

}  // namespace cudamatrix::diff
