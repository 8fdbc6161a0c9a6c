#include "base/text.hpp"
#include "report/cell_json.hpp"
#include "report/layout.hpp"
#include "report/list.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kIndent = 10;      // below the id, which stands behind the longest verdict
constexpr std::size_t kFieldLines = 12;  // a map of packages can be long

}  // namespace

std::string list_text(const CheckReport& report) {
    std::string out;
    for (const auto& cell : report.judgement.cells) {
        const auto verdict = to_string(cell.verdict);
        out += coloured(verdict, colour_of(verdict), report.text.colour) +
               std::string(kIndent - verdict.size(), ' ') + text::printable(cell.id) + "\n" +
               wrapped(fields_line(cell.cell), kIndent, report.text.width, kFieldLines);
    }
    if (!out.empty()) out += "\n";
    return out + clipped(report.matrix.name, 60) + ": " + verdicts_text(report.judgement) + "\n";
}

}  // namespace cudamatrix::report
