#include "report/matrix_reports.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "render/files/artifacts.hpp"
#include "render/files/image_folder.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kGithubMatrixEntries = 256;  // jobs that GitHub runs of one matrix
constexpr std::size_t kListIndent = 10;            // below the id, which stands behind the longest verdict
constexpr std::size_t kFieldLines = 12;            // a map of packages can be long

Failure too_many(const std::string& what, const Matrix& matrix) {
    return {ExitCode::bad_input,
            {Diagnostic::error(
                 fmt::format("{}, and GitHub runs at most {} jobs of one matrix", what, kGithubMatrixEntries),
                 Location{matrix.path})
                 .with_fix("exclude cells, or split the matrix file and give each part a job")}};
}

std::string include_line(Json include) {
    auto out = Json::object();
    out["include"] = std::move(include);
    return to_text(out, false) + "\n";
}

}  // namespace

std::string list_text(const CheckReport& report) {
    std::string out;
    for (const auto& cell : report.judgement.cells) {
        const auto verdict = to_string(cell.verdict);
        out += coloured(verdict, colour_of(verdict), report.text.colour) +
               std::string(kListIndent - verdict.size(), ' ') + text::printable(cell.id) + "\n" +
               wrapped(fields_line(cell.cell), kListIndent, report.text.width, kFieldLines);
    }
    if (!out.empty()) out += "\n";
    return out + clipped(report.matrix.name, 60) + ": " + verdicts_text(report.judgement) + "\n";
}

std::string list_json(const CheckReport& report) {
    JsonDocument document(report.tool);
    document.member("matrix", matrix_json(report));
    document.member("verdicts", verdicts_json(report.judgement.verdicts));
    document.array("cells", report.judgement.cells, [&](const auto& cell) {
        return Json{
            {"id", cell.id}, {"fields", fields_json(cell.cell)}, {"verdict", to_string(cell.verdict)}};
    });
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
        return too_many(fmt::format("{} cells are accepted or degraded", entries), report.matrix);
    }
    return include_line(std::move(include));
}

namespace {

std::size_t served(const ImagePlan& plan) {
    std::size_t cells = 0;
    for (const auto& image : plan.images)
        cells += image.cells.size();
    return cells;
}

// `wanted` is for images with CUDA; a runner with a GPU is too dear for the others.
std::string runner_of(const Image& image, std::string_view wanted) {
    if (!wanted.empty() && image.holds_cuda()) return std::string(wanted);
    return image.arch == "aarch64" ? "ubuntu-24.04-arm" : "ubuntu-latest";
}

}  // namespace

std::string list_images_text(const CheckReport& report, const ImagePlan& plan) {
    std::string out;
    for (const auto& image : plan.images) {
        out += fmt::format("{} ({})\n", text::printable(image.id), text::count(image.cells.size(), "cell"));
        for (const auto& cell : image.cells)
            out += "  " + text::printable(cell) + "\n";
    }
    if (!plan.refusals.empty()) out += "no image\n";
    for (const auto& [cell, reason] : plan.refusals)
        out += "  " + text::printable(cell) + "\n" + wrapped(reason, 4, report.text.width, 4);
    if (!out.empty()) out += "\n";
    return out + fmt::format("{}: {} for {} of {}; {}\n", clipped(report.matrix.name, 60),
                             text::count(plan.images.size(), "image"), served(plan),
                             text::count(report.judgement.cells.size(), "cell"),
                             verdicts_text(report.judgement));
}

std::string list_images_json(const CheckReport& report, const ImagePlan& plan) {
    JsonDocument document(report.tool);
    document.member("matrix", matrix_json(report));
    document.member("verdicts", verdicts_json(report.judgement.verdicts));
    document.begin_array("images");
    for (const auto& image : plan.images) {
        Json json{{"id", image.id}};
        json.update(image_contents(image));
        json["cells"] = image.cells;
        document.element(json);
    }
    document.end_array();
    document.begin_array("refused");
    for (const auto& [cell, reason] : plan.refusals)
        document.element(Json{{"cell", cell}, {"reason", reason}});
    document.end_array();
    return std::move(document).finish();
}

Result<std::string> list_images_github_matrix(const CheckReport& report, const ImagePlan& plan,
                                              std::string_view runner) {
    if (plan.images.size() > kGithubMatrixEntries) {
        return too_many(fmt::format("{} images are needed", plan.images.size()), report.matrix);
    }
    auto include = Json::array();
    for (const auto& image : plan.images) {
        Json entry{{"image", image.id},
                   {"id", image.id},
                   {"tag", image_repository(report.matrix) + ":" + image.id},
                   {"folder", "images/" + image.id},
                   {"runner", runner_of(image, runner)}};
        entry.update(image_contents(image));
        entry["cells"] = text::join(image.cells, " ");
        include.push_back(std::move(entry));
    }
    return include_line(std::move(include));
}

}  // namespace cudamatrix::report
