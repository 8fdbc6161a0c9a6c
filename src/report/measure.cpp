#include "report/knowledge_reports.hpp"

#include <array>

#include "base/text.hpp"
#include "report/json.hpp"

namespace cudamatrix::report {
namespace {

using measure::RowStatus;

std::string contradiction_text(const measure::Compared& each, const Facts& facts) {
    const auto known = facts.row(each.row.id);
    auto out = fmt::format("{}: measured and known disagree\n", each.row.id);
    for (const auto& column : each.contradicted)
        out += fmt::format("  measured  {}\n  known     {}\n", measure::shown(each.row, column),
                           measure::shown(*known, column));
    return out + fmt::format("  measured  {}\n  known     {} ({}, as of {})\n",
                             measure::shown(each.row, "source"), measure::shown(*known, "source"),
                             known->text("confidence"), known->ref().as_of);
}

// A measured row beside the known one.
Json row_json(const measure::Compared& each, const Facts& facts) {
    constexpr std::string_view names[] = {"new", "filled", "confirmed", "contradicted"};
    Json json;
    json["table"] = each.row.table;
    json["id"] = each.row.id;
    json["standing"] = std::string(names[static_cast<std::size_t>(each.status)]);
    for (const auto& cell : each.row.cells) {
        if (cell.is_list) {
            json["columns"][cell.name] = cell.values;
        } else {
            json["columns"][cell.name] = cell.values.front();
        }
    }
    json["filled"] = each.filled;
    json["contradicted"] = Json::object();
    const auto known = facts.row(each.row.id);
    for (const auto& column : each.contradicted) {
        const auto values = known->list(column);
        json["contradicted"][column] = std::vector<std::string>(values.begin(), values.end());
    }
    return json;
}

Json rows_json(const std::vector<measure::Compared>& rows, const Facts& facts) {
    return json_list(rows, [&](const auto& row) { return row_json(row, facts); });
}

char sign(measure::Change::Kind kind) {
    constexpr std::array<char, 6> signs{'+', '!', '-', '~', '~', '!'};
    return signs[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string measured_text(const MeasureReport& report) {
    const auto& measured = report.measured;
    std::string out;
    for (const auto& each : measured.rows) {
        if (each.status == RowStatus::contradicted) out += contradiction_text(each, report.facts);
    }
    for (const auto& each : measured.not_measured)
        out += fmt::format("not measured: {}\n", each);
    if (!measured.other_libraries.empty())
        out += fmt::format("no row of torch_libraries says what these are for, none was written: {}\n",
                           text::printable(text::join(measured.other_libraries, ", ")));
    for (const auto& each : measured.left_out)
        out += fmt::format("left out: {}\n", text::printable(each));
    const auto contradicted = measured.count(RowStatus::contradicted);
    const auto folder = text::printable(report.out);
    out += fmt::format("{}: {} new, {} filled, {} confirmed, {} contradicted, {} not measured\n",
                       text::count(measured.rows.size(), "row"), measured.count(RowStatus::fresh),
                       measured.count(RowStatus::filled), measured.count(RowStatus::confirmed), contradicted,
                       measured.not_measured.size());
    out += fmt::format("{} over the network in {}, {} known from before\n", text::human_bytes(measured.bytes),
                       text::count(measured.requests, "request"), text::count(measured.remembered, "wheel"));
    out += fmt::format("rows: {} (cudamatrix check matrix.yaml --facts {})\n", folder, folder);
    if (contradicted != 0 && !report.accepted)
        out += "contradicting rows were left out: --accept writes them\n";
    return out;
}

std::string measured_json(const MeasureReport& report) {
    const auto& measured = report.measured;
    const Json json{{"schema_version", 1},
                    {"rows", rows_json(measured.rows, report.facts)},
                    {"not_measured", measured.not_measured},
                    {"left_out", measured.left_out},
                    {"other_libraries", measured.other_libraries},
                    {"bytes", measured.bytes},
                    {"requests", measured.requests},
                    {"known_from_before", measured.remembered}};
    return to_text(json) + "\n";
}

std::string refreshed_text(const RefreshReport& report) {
    const auto& found = report.refreshed;
    std::string out;
    for (const auto& change : found.changes) {
        out += fmt::format("{} {} {}: {}{}\n", sign(change.kind), text::printable(change.project),
                           text::printable(change.version), measure::to_string(change.kind),
                           change.detail.empty() ? "" : ", " + text::printable(change.detail));
    }
    for (const auto& row : found.rows)
        out += fmt::format("row {}\n", text::printable(row.row.id));
    for (const auto& each : found.not_measured)
        out += fmt::format("not measured: {}\n", each);
    for (const auto& each : found.left_out)
        out += fmt::format("left out: {}\n", text::printable(each));
    for (const auto& each : found.not_reached)
        out += fmt::format("not reached: {}: {}\n", each.what, each.why);
    out += fmt::format("{}, {} measured; {} of {} reached, {} over the network in {}\n",
                       text::count(found.changes.size(), "change"), text::count(found.rows.size(), "row"),
                       found.places, found.places + found.not_reached.size(), text::human_bytes(found.bytes),
                       text::count(found.requests, "request"));
    if (!found.rows.empty()) {
        const auto folder = text::printable(report.out);
        out +=
            fmt::format("review them in {}, then: cudamatrix check matrix.yaml --facts {}\n", folder, folder);
    }
    return out;
}

std::string refreshed_json(const RefreshReport& report) {
    const auto& found = report.refreshed;
    auto changes = json_list(found.changes, [&](const auto& change) {
        return Json{{"kind", measure::to_string(change.kind)},
                    {"project", change.project},
                    {"version", change.version},
                    {"detail", change.detail}};
    });
    auto not_reached = json_list(found.not_reached, [&](const auto& each) {
        return Json{{"what", each.what}, {"why", each.why}};
    });
    const Json json{{"schema_version", 1},
                    {"changes", std::move(changes)},
                    {"rows", rows_json(found.rows, report.facts)},
                    {"not_measured", found.not_measured},
                    {"left_out", found.left_out},
                    {"not_reached", std::move(not_reached)},
                    {"reached", found.places},
                    {"bytes", found.bytes},
                    {"requests", found.requests}};
    return to_text(json) + "\n";
}

}  // namespace cudamatrix::report
