#include "commands/image_options.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

Result<ExitCode> sbom(const ImageOptions& options, const World& world) {
    CM_TRY_ASSIGN(const auto loaded, load_for_images(options, world));
    CM_TRY_ASSIGN(const auto settings, run_settings(options, *loaded, world));
    CM_TRY_ASSIGN(const auto report, make_sboms(run_input(*loaded), settings));
    print(report::format_named(report::sbom_formats(), options.format)->write(report));
    // Nothing that was attempted is no success either.
    bool good = !report.images.empty();
    for (const auto& image : report.images)
        good = good && image.problems.empty();
    return good ? ExitCode::success : ExitCode::findings;
}

}  // namespace

Action add_sbom(const Arguments& app) {
    auto options = std::make_shared<ImageOptions>();
    options->add_output(app);
    add_format(app, options->format, report::names_of(report::sbom_formats()));
    options->engine.add(app);
    options->add_build(app);
    return [options](const World& world) { return sbom(*options, world); };
}

}  // namespace cudamatrix
