#include "base/json.hpp"
#include "knowledge/facts/age.hpp"
#include "knowledge/facts/schema.hpp"
#include "report/facts_report.hpp"
#include "report/json_document.hpp"

namespace cudamatrix::report {
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
    auto found = find_fact(report, id);
    if (!found) return std::move(found).failure();
    JsonDocument document(report.tool);
    document.member("table", found->table->name);
    if (found->row != nullptr) {
        document.member("row", row_json(*found->row));
    } else {
        document.begin_array("rows");
        for (const auto& row : found->table->rows)
            document.element(row_json(row));
        document.end_array();
    }
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
