#include "advise/lint/find.hpp"
#include "base/text.hpp"
#include "commands/common.hpp"
#include "commands/github_files.hpp"
#include "render/image/image_plan.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

struct ListOptions {
    MatrixOptions input;
    std::string format;
    std::string out;
    bool images = false;
    std::string runner;
    GithubOutput output;
};

// Only what can work gets an image.
ImagePlan images_of(const Loaded& loaded) {
    return plan_images(loaded.matrix, lint::cells_with_image(loaded.judgement), loaded.facts,
                       taken_by(loaded.lock));
}

Result<ExitCode> list(const ListOptions& options, const World& world) {
    if (!options.runner.empty() && !(options.images && options.format == "github-matrix")) {
        return input_failure("--runner is a label of the CI matrix of images",
                             "give it with --images --format github-matrix");
    }
    const auto& format = *report::format_named(report::list_formats(), options.format);
    if (options.images && format.write_images == nullptr) {
        return input_failure(fmt::format("--images has no format {}", options.format),
                             "--format text, json or github-matrix");
    }
    if (!options.output.name.empty() && options.format != "github-matrix") {
        return input_failure("--github-output is for the CI matrix", "give it with --format github-matrix");
    }
    CM_TRY(options.output.ready(world));
    CM_TRY_ASSIGN(const auto loaded, load(options.input, world));
    report_warnings(*loaded, world);
    auto report = check_report(*loaded, world);
    const auto plan = options.images ? images_of(*loaded) : ImagePlan{};
    const auto write = [&](const report::CheckReport& about) {
        return options.images ? format.write_images(about, plan, options.runner) : format.write(about);
    };
    CM_TRY(publish(report, options.images ? "list-images" : "list", options.format, options.out, write));
    if (!options.output.name.empty()) {
        CM_TRY_ASSIGN(const auto line, write(report));
        CM_TRY(options.output.append(world, line));
    }
    return ExitCode::success;
}

}  // namespace

Action add_list(const Arguments& app) {
    auto options = std::make_shared<ListOptions>();
    options->input.add(app);
    add_format(app, options->format, report::names_of(report::list_formats()));
    app.add_flag("--images", options->images, "List the images instead, each with the cells that share it");
    app.add_option(
           "--runner", options->runner,
           "With --images --format github-matrix: label of the runners for images with CUDA (default: "
           "GitHub's own, where the others run always)")
        .type_name("LABEL")
        .check([](const std::string& label) {
            const bool fits = !label.empty() && label.size() <= 100 && text::only(label, "-_.");
            return fits ? "" : "a label has letters, digits, '-', '_' and '.'";
        });
    options->output.add(app);
    add_report_folder(app, options->out);
    return [options](const World& world) { return list(*options, world); };
}

}  // namespace cudamatrix
