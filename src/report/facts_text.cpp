#include <algorithm>

#include "base/text.hpp"
#include "knowledge/facts/age.hpp"
#include "report/facts_report.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kValueLines = 40;

std::size_t rows_with(const Table& table, Confidence confidence) {
    return static_cast<std::size_t>(std::count_if(table.rows.begin(), table.rows.end(), [&](const Row& row) {
        return row.ref().confidence == confidence;
    }));
}

// Told below the columns, from the row's reference: a row may inherit its date from the table.
bool is_reference(std::string_view column) {
    return column == "id" || column == "source" || column == "as_of" || column == "confidence";
}

std::string value_text(const Row::Column& column) {
    std::vector<std::string> parts(column.values.begin(), column.values.end());
    return parts.empty() ? "(none)" : text::join(parts, ", ");
}

// The name, then the value beside it on as many lines as it takes.
std::string entry(std::string_view name, std::size_t name_width, std::string_view value, std::size_t width) {
    const std::size_t indent = 2 + name_width + 2;
    const auto lines = wrapped(value, indent, width, kValueLines);
    const auto shown = clipped(name, name_width);
    if (lines.empty()) return "  " + shown + "\n";
    return "  " + shown + std::string(indent - 2 - text::display_width(shown), ' ') + lines.substr(indent);
}

std::string row_text(const Table& table, const Row& row, std::size_t width) {
    std::size_t name_width = std::string_view("confidence").size();
    for (const auto& column : row.columns())
        name_width = std::max(name_width, text::display_width(column.name));
    name_width = std::min<std::size_t>(name_width, 24);

    auto out = fmt::format("{} (table {})\n", text::printable(row.id()), text::printable(table.name));
    for (const auto& column : row.columns()) {
        if (!is_reference(column.name)) out += entry(column.name, name_width, value_text(column), width);
    }
    const auto ref = row.ref();
    for (const auto& source : ref.sources) {
        // Not wrapped: it is to be copied.
        out += "  source" + std::string(name_width - 4, ' ') + text::printable(source) + "\n";
    }
    out += entry("as_of", name_width, ref.as_of, width);
    return out + entry("confidence", name_width, to_string(ref.confidence), width);
}

std::string table_text(const FactsReport& report, const Table& table) {
    TextTable out({{"ID"}, {"AS OF"}, {"CONFIDENCE"}});
    for (const auto& row : table.rows) {
        const auto ref = row.ref();
        out.add({std::string(row.id()), ref.as_of, std::string(to_string(ref.confidence))});
    }
    return fmt::format("table {}: {}\n", text::printable(table.name), text::count(table.rows.size(), "row")) +
           (out.empty() ? "" : out.render(report.text.width, report.text.colour));
}

}  // namespace

std::string facts_text(const FactsReport& report) {
    TextTable out({{"TABLE"},
                   {"ROWS", true},
                   {"MEASURED", true},
                   {"READ", true},
                   {"UNVERIFIED", true},
                   {"AS OF"},
                   {"OLDEST"}});
    std::size_t rows = 0;
    for (const auto& table : report.tables) {
        rows += table.rows.size();
        out.add({std::string(table.name), std::to_string(table.rows.size()),
                 std::to_string(rows_with(table, Confidence::measured)),
                 std::to_string(rows_with(table, Confidence::read)),
                 std::to_string(rows_with(table, Confidence::unverified)), std::string(table.as_of),
                 oldest_date(table.rows)});
    }
    return (out.empty() ? "" : out.render(report.text.width, report.text.colour) + "\n") +
           fmt::format("facts {} {}: {} in {}; `cudamatrix facts show ID` shows a table or a row\n",
                       report.tool.facts_date, report.tool.facts_hash, text::count(rows, "row"),
                       text::count(report.tables.size(), "table"));
}

Result<FoundFact> find_fact(const FactsReport& report, std::string_view id) {
    std::vector<std::string> names;
    for (const auto& table : report.tables) {
        for (const auto& row : table.rows) {
            if (row.id() == id) return FoundFact{&table, &row};
            names.emplace_back(row.id());
        }
    }
    for (const auto& table : report.tables) {
        if (table.name == id) return FoundFact{&table, nullptr};
        names.emplace_back(table.name);
    }
    const auto near = id.size() > 100 ? std::nullopt : text::did_you_mean(id, names);
    return input_failure(
        fmt::format("no fact or table is called \"{}\"", clipped(id, 100)),
        near ? fmt::format("did you mean {}?", *near) : "`cudamatrix facts show` lists the tables");
}

Result<std::string> fact_text(const FactsReport& report, std::string_view id) {
    auto found = find_fact(report, id);
    if (!found) return std::move(found).failure();
    return found->row == nullptr
               ? table_text(report, *found->table)
               : row_text(*found->table, *found->row, std::max<std::size_t>(report.text.width, 60));
}

}  // namespace cudamatrix::report
