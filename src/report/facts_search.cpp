// facts search and facts check.
#include <algorithm>

#include "base/json.hpp"
#include "base/text.hpp"
#include "knowledge/facts/age.hpp"
#include "report/facts_report.hpp"
#include "report/json_document.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

bool holds(const Table& table, const Row& row, const std::string& word) {
    const auto has = [&](std::string_view text) { return text::lower(text).find(word) != std::string::npos; };
    if (has(table.name)) return true;
    const auto columns = row.columns();
    return std::any_of(columns.begin(), columns.end(), [&](const Row::Column& column) {
        if (column.values.empty()) return false;
        return text::lower(column.name) == word ||
               std::any_of(column.values.begin(), column.values.end(), has);
    });
}

// The values that say what the row is about, without its reference.
std::string words_of(const Row& row) {
    std::vector<std::string> parts;
    for (const auto& column : row.columns()) {
        if (column.name == "id" || column.name == "source" || column.name == "as_of" ||
            column.name == "confidence" || column.values.empty())
            continue;
        const std::vector<std::string> values(column.values.begin(), column.values.end());
        parts.push_back(fmt::format("{}: {}", column.name, text::join(values, ", ")));
    }
    return text::join(parts, "; ");
}

std::size_t old_of(const FactsReport& report) {
    std::size_t count = 0;
    for (const auto& table : report.tables)
        count += old_rows(table.rows, report.today);
    return count;
}

}  // namespace

FactsFound search_facts(const FactsReport& report, const std::vector<std::string>& words) {
    FactsFound found{words, {}};
    std::vector<std::string> lower;
    for (const auto& word : words)
        lower.push_back(text::lower(word));
    for (const auto& table : report.tables) {
        for (const auto& row : table.rows) {
            if (std::all_of(lower.begin(), lower.end(),
                            [&](const std::string& word) { return holds(table, row, word); }))
                found.rows.push_back({&table, &row});
        }
    }
    return found;
}

std::string facts_search_text(const FactsReport& report, const FactsFound& found) {
    std::string out;
    for (const auto& [table, row] : found.rows) {
        out += fmt::format("{} (table {}, {})\n", text::printable(row->id()), text::printable(table->name),
                           to_string(row->confidence())) +
               wrapped(words_of(*row), 2, report.text.width, 3);
    }
    if (!out.empty()) out += "\n";
    return out + fmt::format("{} with {}; `cudamatrix facts show ID` shows one with its source\n",
                             text::count(found.rows.size(), "row"),
                             clipped(text::join(found.words, " and "), 200));
}

std::string facts_search_json(const FactsReport& report, const FactsFound& found) {
    JsonDocument document(report.tool);
    document.member("words", found.words);
    document.begin_array("rows");
    for (const auto& [table, row] : found.rows) {
        auto values = Json::object();
        for (const auto& column : row->columns()) {
            const std::vector<std::string> list(column.values.begin(), column.values.end());
            values[std::string(column.name)] = column.is_list ? Json(list) : Json(row->text(column.name));
        }
        document.element(Json{{"table", table->name}, {"id", row->id()}, {"columns", std::move(values)}});
    }
    document.end_array();
    return std::move(document).finish();
}

FactsCount count_facts(std::span<const Table> tables) {
    FactsCount count;
    for (const auto& table : tables) {
        for (const auto& row : table.rows) {
            const auto confidence = row.confidence();
            ++count.rows;
            ++(confidence == Confidence::measured ? count.measured
               : confidence == Confidence::read   ? count.read
                                                  : count.unverified);
        }
    }
    return count;
}

std::string facts_check_text(const FactsReport& report) {
    const auto count = count_facts(report.tables);
    return fmt::format("facts {} {}: {} in {}, {} unverified, {} older than {} days, 0 mistakes\n",
                       report.tool.facts_date, report.tool.facts_hash, text::count(count.rows, "row"),
                       text::count(report.tables.size(), "table"), count.unverified, old_of(report),
                       kOldAfterDays);
}

std::string facts_check_json(const FactsReport& report) {
    const auto count = count_facts(report.tables);
    JsonDocument document(report.tool);
    document.member("tables", report.tables.size());
    document.member("rows", count.rows);
    document.member("measured", count.measured);
    document.member("read", count.read);
    document.member("unverified", count.unverified);
    document.member("old", old_of(report));
    document.member("mistakes", 0);
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
