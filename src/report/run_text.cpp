#include <algorithm>

#include "base/text.hpp"
#include "report/layout.hpp"
#include "report/run_report.hpp"
#include "report/run_tables.hpp"
#include "report/run_totals.hpp"

namespace cudamatrix::report {
namespace {

std::string heading(const RunReport& report, const TextOptions& options) {
    std::string out = clipped(fmt::format("{} of {}", report.command, report.matrix), options.width) + "\n";
    if (!report.engine.empty()) {
        out +=
            wrapped("engine " + report.engine + (report.engine_why.empty() ? "" : ": " + report.engine_why),
                    0, options.width, 2);
    }
    return out + "\n";
}

// Paths are not wrapped: they are to be copied.
std::string places(const RunReport& report) {
    if (report.output.empty()) return {};
    const auto folder = text::printable(report.output);
    auto out = "output: " + folder + "\n";
    const auto logged = std::find_if(report.cells.begin(), report.cells.end(), [](const CellResult& cell) {
        return cell.log.find('/') != std::string::npos;
    });
    if (logged != report.cells.end()) {
        out += fmt::format("logs: {}/{}\n", folder,
                           text::printable(logged->log.substr(0, logged->log.rfind('/'))));
    }
    return out;
}

}  // namespace

std::string run_text(const RunReport& report, const TextOptions& wanted) {
    TextOptions options = wanted;
    options.width = std::max<std::size_t>(options.width, 40);
    const auto closing = closing_line(report);
    const auto word = closing.substr(0, closing.find(':'));
    return heading(report, options) + cells_part(report, options) + roads_part(report, options) +
           images_part(report, options) + skipped_part(report, options) + failures_part(report, options) +
           coloured(word, colour_of(word), options.colour) + closing.substr(word.size()) + "\n" +
           places(report);
}

}  // namespace cudamatrix::report
