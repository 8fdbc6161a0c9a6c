#include "report/knowledge_reports.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/text.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/facts/schema.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kValueLines = 40;

// Rows by confidence.
struct FactsCount {
    std::size_t rows = 0;
    std::size_t measured = 0;
    std::size_t read = 0;
    std::size_t unverified = 0;
};

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
    for (const auto& table : report.tables) {
        const auto count = count_facts({&table, 1});
        out.add({std::string(table.name), std::to_string(count.rows), std::to_string(count.measured),
                 std::to_string(count.read), std::to_string(count.unverified), std::string(table.as_of),
                 oldest_date(table.rows)});
    }
    return (out.empty() ? "" : out.render(report.text.width, report.text.colour) + "\n") +
           fmt::format("facts {} {}: {} in {}; `cudamatrix facts show ID` shows a table or a row\n",
                       report.tool.facts_date, report.tool.facts_hash,
                       text::count(count_facts(report.tables).rows, "row"),
                       text::count(report.tables.size(), "table"));
}

Result<std::string> fact_text(const FactsReport& report, std::string_view id) {
    CM_TRY_ASSIGN(auto found, find_fact(report, id));
    return found.row == nullptr
               ? table_text(report, *found.table)
               : row_text(*found.table, *found.row, std::max<std::size_t>(report.text.width, 60));
}

namespace {

Json row_json(const Row& row) {
    auto columns = Json::object();
    for (const auto& column : row.columns()) {
        auto list = Json::array();
        for (const auto value : column.values)
            list.push_back(value);
        columns[std::string(column.name)] = column.is_list ? list : list.empty() ? Json("") : list.front();
    }
    const auto ref = row.ref();
    return Json{{"id", row.id()},
                {"columns", std::move(columns)},
                {"sources", ref.sources},
                {"as_of", ref.as_of},
                {"confidence", to_string(ref.confidence)}};
}

Json columns_of(const Table& table) {
    auto out = Json::array();
    const auto* schema = facts::schema_of(table.name);
    if (schema == nullptr) return out;
    for (const auto& column : schema->columns)
        out.push_back(column.name);
    return out;
}

}  // namespace

std::string facts_json(const FactsReport& report) {
    JsonDocument document(report.tool);
    document.begin_array("tables");
    for (const auto& table : report.tables) {
        const auto count = count_facts({&table, 1});
        document.element(Json{{"name", table.name},
                              {"as_of", table.as_of},
                              {"oldest", oldest_date(table.rows)},
                              {"old", old_rows(table.rows, report.today)},
                              {"rows", count.rows},
                              {"measured", count.measured},
                              {"read", count.read},
                              {"unverified", count.unverified},
                              {"columns", columns_of(table)}});
    }
    document.end_array();
    return std::move(document).finish();
}

Result<std::string> fact_json(const FactsReport& report, std::string_view id) {
    CM_TRY_ASSIGN(auto found, find_fact(report, id));
    JsonDocument document(report.tool);
    document.member("table", found.table->name);
    if (found.row != nullptr) {
        document.member("row", row_json(*found.row));
    } else {
        document.array("rows", found.table->rows, row_json);
    }
    return std::move(document).finish();
}

namespace {

bool holds(const Table& table, const Row& row, const std::string& word) {
    const auto has = [&](std::string_view text) { return text::lower(text).find(word) != std::string::npos; };
    if (has(table.name)) return true;
    const auto columns = row.columns();
    return std::ranges::any_of(columns, [&](const Row::Column& column) {
        if (column.values.empty()) return false;
        return text::lower(column.name) == word || std::ranges::any_of(column.values, has);
    });
}

// The values that say what the row is about, without its reference.
std::string words_of(const Row& row) {
    std::vector<std::string> parts;
    for (const auto& column : row.columns()) {
        if (is_reference(column.name) || column.values.empty()) continue;
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
            if (std::ranges::all_of(lower, [&](const std::string& word) { return holds(table, row, word); }))
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

std::string facts_mine_text(const FactsReport& report, std::string_view folder) {
    const auto shown = text::printable(folder);
    if (report.tables.empty()) {
        return fmt::format("no facts of your own: {} holds none; what --look measures is kept there\n",
                           shown);
    }
    std::string out;
    for (const auto& table : report.tables) {
        for (const auto& row : table.rows) {
            const auto ref = row.ref();
            out +=
                fmt::format("{} (table {}, {}, {})\n", text::printable(row.id()), text::printable(table.name),
                            to_string(ref.confidence), text::printable(ref.as_of));
            for (const auto& source : ref.sources)
                out += "  source  " + text::printable(source) + "\n";  // not wrapped: it is to be copied
        }
    }
    return out + fmt::format(
                     "\n{} in {}; `cudamatrix facts show ID --facts DIR` with that folder shows one "
                     "with all its columns\n",
                     text::count(count_facts(report.tables).rows, "row"), shown);
}

std::string facts_mine_json(const FactsReport& report, std::string_view folder) {
    JsonDocument document(report.tool);
    document.member("folder", folder);
    document.begin_array("rows");
    for (const auto& table : report.tables) {
        for (const auto& row : table.rows) {
            auto element = row_json(row);
            element["table"] = table.name;
            document.element(element);
        }
    }
    document.end_array();
    return std::move(document).finish();
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
