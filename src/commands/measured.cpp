#include "commands/measured.hpp"

#include "base/text.hpp"
#include "look/measure/overlay.hpp"

namespace cudamatrix {

Result<pep440::Specifiers> versions_of(const MeasureOptions& options) {
    auto versions = pep440::Specifiers::parse(options.versions);
    if (versions) return *std::move(versions);
    return input_failure(
        fmt::format("invalid --versions '{}': expected a version specifier",
                    text::printable(options.versions)),
        fmt::format("write it as pip does: '{}'", options.is_toolkit ? ">=12,<14" : ">=1.13,<3"));
}

Status write_rows(const MeasureOptions& options, measure::Measured& measured, std::string_view today) {
    std::vector<measure::MeasuredRow> rows;
    for (const auto& each : measured.rows) {
        if (each.standing != measure::Standing::contradicted || options.accept) rows.push_back(each.row);
    }
    auto left_out = measure::write_overlay(options.out, std::move(rows), today, options.facts);
    if (!left_out.ok()) return left_out.failure();
    measured.left_out = std::move(left_out).value();
    return Done{};
}

}  // namespace cudamatrix
