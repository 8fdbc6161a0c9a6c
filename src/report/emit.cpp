#include "report/emit.hpp"

#include "base/text.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {

std::string emit_text(const EmitReport& report) {
    if (report.cells == 0)
        return fmt::format("{}: every cell was answered, there is nothing to emit\n",
                           clipped(report.matrix, 60));
    std::string out;
    for (const auto& file : report.files)
        out += fmt::format("{}/{}\n", text::printable(report.folder), file);
    const auto tasks = report.tasks == 0 ? std::string() : text::count(report.tasks, "task") + " of ";
    return out + fmt::format("{}: {}{} and {} for {}; {} changed\nnext: {}\n", clipped(report.matrix, 60),
                             tasks, text::count(report.images, "image"), text::count(report.cells, "cell"),
                             report.target, text::count(report.changed, "file"), report.next);
}

std::string emit_json(const EmitReport& report) {
    JsonDocument document(report.tool);
    document.member("matrix", report.matrix);
    document.member("target", report.target);
    document.member("folder", report.folder);
    document.member("files", report.files);
    document.member("images", report.images);
    document.member("tasks", report.tasks);
    document.member("cells", report.cells);
    document.member("changed", report.changed);
    document.member("next", report.next);
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
