#include "advise/lint/find.hpp"
#include "commands/common.hpp"
#include "render/image/image_plan.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

struct ListOptions {
    MatrixOptions input;
    std::string format;
    std::string out;
    bool images = false;
};

// Only what can work gets an image.
ImagePlan images_of(const Loaded& loaded) {
    return plan_images(loaded.matrix, lint::cells_with_image(loaded.judgement), loaded.facts);
}

Result<ExitCode> list(const ListOptions& options, const World& world) {
    CM_TRY_ASSIGN(const auto loaded, load(options.input, world));
    report_warnings(*loaded, world);
    auto report = check_report(*loaded, world);
    const auto& format = *report::format_named(report::list_formats(), options.format);
    const auto plan = options.images ? images_of(*loaded) : ImagePlan{};
    CM_TRY(publish(report, options.images ? "list-images" : "list", options.format, options.out,
                   [&](const report::CheckReport& about) {
                       return options.images ? format.write_images(about, plan) : format.write(about);
                   }));
    return ExitCode::success;
}

}  // namespace

Action add_list(const Arguments& app) {
    auto options = std::make_shared<ListOptions>();
    options->input.add(app);
    add_format(app, options->format, report::names_of(report::list_formats()));
    app.add_flag("--images", options->images, "List the images instead, each with the cells that share it");
    add_report_folder(app, options->out);
    return [options](const World& world) { return list(*options, world); };
}

}  // namespace cudamatrix
