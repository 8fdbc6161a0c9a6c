// render, build, test and run: the same options over the same road, each going further along it.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "base/text.hpp"
#include "commands/common.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

using Job = Result<RunReport> (*)(const RunInput&, const RunSettings&);

// The reports lie beside the artifacts, whatever stdout carries.
Status write_reports(const RunReport& report, const std::filesystem::path& out) {
    for (const auto& format : report::run_formats()) {
        const auto written = write_report(out, "report", format.name, format.write(report, {}));
        if (!written.ok()) return written.failure();
    }
    return Done{};
}

ExitCode perform(Job job, bool engine, const ImageOptions& options, const World& world) {
    const auto loaded = load_for_images(options, world);
    if (!loaded.ok()) return report_failure(loaded.failure(), world);
    const auto settings = run_settings(options, *loaded.value(), world);
    const auto& [matrix, facts, judgement, today, host] = *loaded.value();
    const auto report = job({matrix, facts, judgement}, settings);
    if (!report.ok()) return report_failure(report.failure(), world);

    auto code = static_cast<ExitCode>(report->exit_code);
    // What `render` leaves behind is for committing: the same bytes every time, so no report with durations
    // in it.
    if (engine) {
        const auto written = write_reports(*report, settings.out);
        if (!written.ok()) code = worse(code, report_failure(written.failure(), world));
    }
    const auto& format = *report::format_named(report::run_formats(), options.format);
    print(format.write(*report, {world.colour_out, world.columns}));
    return code;
}

Action add_job(CLI::App& app, Job job, bool engine) {
    auto options = std::make_shared<ImageOptions>();
    options->add_output(app);
    add_format(app, options->format, report::names_of(report::run_formats()));
    if (engine) options->add_engine(app);
    return [options, job, engine](const World& world) { return perform(job, engine, *options, world); };
}

}  // namespace

Action add_render(CLI::App& app) {
    return add_job(app, render_images, false);
}
Action add_build(CLI::App& app) {
    return add_job(app, build_images, true);
}
Action add_test(CLI::App& app) {
    return add_job(app, test_images, true);
}
Action add_run(CLI::App& app) {
    return add_job(app, run_all, true);
}

}  // namespace cudamatrix
