// report: prints the reports of render, build, test and run again, from their JSON, several of them as one.
#include "base/file.hpp"
#include "base/text.hpp"
#include "commands/image_options.hpp"
#include "report/formats.hpp"
#include "report/json_members.hpp"
#include "report/run_document.hpp"

namespace cudamatrix {
namespace {

struct ReportOptions {
    std::vector<std::string> files;
    std::string format;
    std::string out;
    report::ExitRules rules;
    StepSummary step_summary;
};

Result<ExitCode> perform(const ReportOptions& options, const World& world) {
    CM_TRY(options.step_summary.ready(world));
    std::vector<report::ReadRun> runs;
    for (const auto& file : options.files) {
        CM_TRY_ASSIGN(const auto text, file::read(file, report::kLargestDocument));
        CM_TRY_ASSIGN(auto report, report::read_run_json(text, file));
        runs.push_back({file, std::move(report)});
    }
    CM_TRY_ASSIGN(const auto merged, report::merge_runs(std::move(runs), options.rules));
    for (const auto& note : merged.notes)
        tell(note, world);
    const auto& format = *report::format_named(report::run_formats(), options.format);
    print(format.write(merged.report, {world.colour_out, world.columns}));
    if (!options.out.empty())
        CM_TRY(write_report(options.out, "report", options.format, format.write(merged.report, {})));
    CM_TRY(options.step_summary.append(world, [&] { return report::run_markdown(merged.report); }));
    return static_cast<ExitCode>(merged.report.exit_code);
}

}  // namespace

Action add_report(const Arguments& app) {
    auto options = std::make_shared<ReportOptions>();
    app.add_option("FILE", options->files,
                   "What render, build, test or run wrote with --format json, or report.json of their folder")
        .required();
    add_format(app, options->format, report::names_of(report::run_formats()));
    add_report_folder(app, options->out);
    options->step_summary.add(app);
    add_gpu_demand(app, options->rules.require_gpu, options->rules.accept_static);
    add_strict(app, options->rules.strict);
    return [options](const World& world) { return perform(*options, world); };
}

}  // namespace cudamatrix
