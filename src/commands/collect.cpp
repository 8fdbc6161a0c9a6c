// collect: the results of many machines as one report, held against the plan of the matrix.
#include "run/collect/collect.hpp"
#include "base/text.hpp"
#include "commands/image_options.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

struct CollectOptions {
    ImageOptions image;
    std::vector<std::string> paths;
};

Result<ExitCode> perform(const CollectOptions& options, const World& world) {
    CM_TRY(options.image.step_summary.ready(world));
    CM_TRY_ASSIGN(const auto loaded, load_for_images(options.image, world));
    CM_TRY_ASSIGN(const auto settings, run_settings(options.image, *loaded, world));
    CM_TRY(use_fixes_that_work(*loaded, world));
    const auto input = run_input(*loaded);
    CM_TRY_ASSIGN(const auto plan, job::make_plan(input, settings, "test"));
    CM_TRY_ASSIGN(const auto collected, collect::collect(input, settings, plan, options.paths));
    for (const auto& note : collected.notes)
        tell(note, world);
    const auto& name = options.image.format;
    const auto& format = *report::format_named(report::run_formats(), name);
    const auto write = [&](const report::TextOptions& text) {
        return format.write(collected.report, text) +
               (name == "text" ? collect::unanswered_text(collected.unanswered) : "");
    };
    print(write({world.colour_out, world.columns}));
    if (!options.image.out.empty()) CM_TRY(write_report(options.image.out, "collected", name, write({})));
    CM_TRY(options.image.step_summary.append(world, [&] { return report::run_markdown(collected.report); }));
    return static_cast<ExitCode>(collected.report.exit_code);
}

}  // namespace

Action add_collect(const Arguments& app) {
    auto options = std::make_shared<CollectOptions>();
    options->image.add_output(app);
    app.add_option("RESULT", options->paths,
                   "report.json of `run`, a log with what the suite printed, or a folder with such files")
        .required();
    add_format(app, options->image.format, report::names_of(report::run_formats()));
    options->image.step_summary.add(app);
    options->image.add_build(app);
    options->image.add_gpu_demand(app);
    options->image.add_level(app);
    return [options](const World& world) { return perform(*options, world); };
}

}  // namespace cudamatrix
