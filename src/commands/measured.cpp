#include "commands/measured.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/text.hpp"
#include "look/measure/overlay.hpp"

namespace cudamatrix {

using measure::Standing;

void Measured::add(measure::MeasuredRow row, const Facts& facts) {
    const auto twice = std::any_of(rows.begin(), rows.end(),
                                   [&](const measure::Compared& other) { return other.row.id == row.id; });
    if (!twice) rows.push_back(measure::compare(std::move(row), facts));
}

bool Measured::note(const measure::Seen& seen) {
    if (seen.remembered) ++remembered;
    if (!seen.look.ok()) not_measured.push_back(seen.look.failure().diagnostics.front().message);
    return seen.look.ok();
}

std::size_t Measured::count(Standing standing) const {
    return static_cast<std::size_t>(std::count_if(
        rows.begin(), rows.end(), [&](const measure::Compared& row) { return row.standing == standing; }));
}

Result<pep440::Specifiers> versions_of(const MeasureOptions& options) {
    auto versions = pep440::Specifiers::parse(options.versions);
    if (versions) return *std::move(versions);
    return input_failure(
        fmt::format("invalid --versions '{}': expected a version specifier",
                    text::printable(options.versions)),
        fmt::format("write it as pip does: '{}'", options.is_toolkit ? ">=12,<14" : ">=1.13,<3"));
}

Status write_rows(const MeasureOptions& options, Measured& measured, std::string_view today) {
    std::vector<measure::MeasuredRow> rows;
    for (const auto& each : measured.rows) {
        if (each.standing != Standing::contradicted || options.accept) rows.push_back(each.row);
    }
    auto left_out = measure::write_overlay(options.out, std::move(rows), today, options.facts);
    if (!left_out.ok()) return left_out.failure();
    measured.left_out = std::move(left_out).value();
    return Done{};
}

std::string measured_text(const MeasureOptions& options, const Measured& measured, const Facts& facts) {
    std::string out;
    for (const auto& each : measured.rows) {
        if (each.standing != Standing::contradicted) continue;
        const auto known = facts.row(each.row.id);
        out += fmt::format("{}: measured and known disagree\n", each.row.id);
        for (const auto& column : each.contradicted)
            out += fmt::format("  measured  {}\n  known     {}\n", measure::shown(each.row, column),
                               measure::shown(*known, column));
        out +=
            fmt::format("  measured  {}\n  known     {} ({}, as of {})\n", measure::shown(each.row, "source"),
                        measure::shown(*known, "source"), known->text("confidence"), known->ref().as_of);
    }
    for (const auto& each : measured.not_measured)
        out += fmt::format("not measured: {}\n", each);
    if (!measured.other_libraries.empty())
        out += fmt::format("no row of torch_libraries says what these are for, none was written: {}\n",
                           text::printable(text::join(measured.other_libraries, ", ")));
    for (const auto& each : measured.left_out)
        out += fmt::format("left out: {}\n", text::printable(each));
    out += fmt::format("{}: {} new, {} filled, {} confirmed, {} contradicted, {} not measured\n",
                       text::count(measured.rows.size(), "row"), measured.count(Standing::fresh),
                       measured.count(Standing::filled), measured.count(Standing::confirmed),
                       measured.count(Standing::contradicted), measured.not_measured.size());
    out += fmt::format("{} over the network in {}, {} known from before\n", text::human_bytes(measured.bytes),
                       text::count(measured.requests, "request"), text::count(measured.remembered, "wheel"));
    out += fmt::format("rows: {} (cudamatrix check matrix.yaml --facts {})\n", text::printable(options.out),
                       text::printable(options.out));
    if (measured.count(Standing::contradicted) != 0 && !options.accept)
        out += "contradicting rows were left out: --accept writes them\n";
    return out;
}

std::string measured_json(const Measured& measured, const Facts& facts) {
    Json json;
    json["schema_version"] = 1;
    json["rows"] = Json::array();
    for (const auto& each : measured.rows)
        json["rows"].push_back(row_json(each, facts));
    json["not_measured"] = measured.not_measured;
    json["left_out"] = measured.left_out;
    json["other_libraries"] = measured.other_libraries;
    json["bytes"] = measured.bytes;
    json["requests"] = measured.requests;
    json["known_from_before"] = measured.remembered;
    return to_text(json) + "\n";
}

}  // namespace cudamatrix
