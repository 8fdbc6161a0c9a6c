#include "run/job/clean.hpp"

#include "commands/image_options.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

struct CleanOptions {
    EngineOptions engine;
    std::string out;
    std::string format;
    bool images = false;
    bool dry_run = false;
};

Result<ExitCode> clean(const CleanOptions& options, const World& world) {
    job::CleanSettings settings;
    settings.engine = {options.engine.name, options.engine.host, {}};
    settings.out = options.out;
    settings.images = options.images;
    settings.dry_run = options.dry_run;
    settings.environment = world.environment;
    settings.cancellation = world.cancellation;
    CM_TRY_ASSIGN(const auto report, job::clean(settings));
    print(report::format_named(report::clean_formats(), options.format)->write(report));
    const auto left = report.count(false, SweptOutcome::failed) + report.count(true, SweptOutcome::failed);
    return left == 0 ? ExitCode::success : ExitCode::findings;
}

}  // namespace

Action add_clean(const Arguments& app) {
    auto options = std::make_shared<CleanOptions>();
    options->engine.add(app);
    app.add_option("--out", options->out,
                   "Only what was run and built for this output folder, where nobody may be at work")
        .type_name("DIR");
    app.add_flag("--images", options->images, "Remove images as well");
    app.add_flag("--dry-run", options->dry_run, "Only say what would be removed");
    add_format(app, options->format, report::names_of(report::clean_formats()));
    return [options](const World& world) { return clean(*options, world); };
}

}  // namespace cudamatrix
