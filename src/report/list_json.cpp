#include "base/json.hpp"
#include "base/text.hpp"
#include "report/cell_json.hpp"
#include "report/json_document.hpp"
#include "report/list.hpp"

namespace cudamatrix::report {

std::string list_json(const CheckReport& report) {
    JsonDocument document(report.tool);
    document.member("matrix", matrix_json(report));
    document.member("verdicts", verdicts_json(report.judgement));
    document.begin_array("cells");
    for (const auto& cell : report.judgement.cells) {
        document.element(
            Json{{"id", cell.id}, {"fields", fields_json(cell.cell)}, {"verdict", to_string(cell.verdict)}});
    }
    document.end_array();
    return std::move(document).finish();
}

Result<std::string> list_github_matrix(const CheckReport& report) {
    auto include = Json::array();
    std::size_t entries = 0;
    for (const auto& cell : report.judgement.cells) {
        if (cell.verdict != Verdict::accepted && cell.verdict != Verdict::degraded) continue;
        if (++entries > kGithubMatrixEntries) continue;
        Json entry{{"id", cell.id}, {"verdict", to_string(cell.verdict)}};
        entry.update(fields_json(cell.cell));
        include.push_back(std::move(entry));
    }
    if (entries > kGithubMatrixEntries) {
        return Failure{ExitCode::bad_input,
                       {Diagnostic::error(
                            fmt::format("{} cells are accepted or degraded, and GitHub runs at most {} jobs "
                                        "of one matrix",
                                        entries, kGithubMatrixEntries),
                            Location{report.matrix.path})
                            .with_fix("exclude cells, or split the matrix file and give each part a job")}};
    }
    auto out = Json::object();
    out["include"] = std::move(include);
    return to_text(out, false) + "\n";
}

}  // namespace cudamatrix::report
