#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include "commands/common.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

struct ListOptions {
    MatrixOptions input;
    std::string format;
    std::string out;
};

ExitCode list(const ListOptions& options, const World& world) {
    const auto loaded = load(options.input, world);
    if (!loaded.ok()) return report_failure(loaded.failure(), world);
    report_warnings(loaded.value()->matrix, world);
    auto report = check_report(*loaded.value(), world);
    const auto write = report::format_named(report::list_formats(), options.format)->write;
    const auto text = write(report);
    if (!text.ok()) return report_failure(text.failure(), world);
    print(text.value());
    if (!options.out.empty()) {
        report.text = {};
        const auto written = write_report(options.out, "list", options.format, write(report).value());
        if (!written.ok()) return report_failure(written.failure(), world);
    }
    return ExitCode::success;
}

}  // namespace

Action add_list(CLI::App& app) {
    auto options = std::make_shared<ListOptions>();
    options->input.add(app);
    options->input.add_override(app);
    add_format(app, options->format, report::names_of(report::list_formats()));
    add_report_folder(app, options->out);
    return [options](const World& world) { return list(*options, world); };
}

}  // namespace cudamatrix
