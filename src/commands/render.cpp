// render: writes the output folder, compares with it (--check), or says where its lines come from
// (--explain).
#include <algorithm>

#include "advise/lint/find.hpp"
#include "base/text.hpp"
#include "commands/image_options.hpp"
#include "render/files/artifacts.hpp"
#include "render/image/image_plan.hpp"
#include "report/formats.hpp"
#include "run/job/job.hpp"

namespace cudamatrix {
namespace {

struct RenderOptions {
    ImageOptions image;
    bool check = false;
    bool prune = false;
    std::string explain;
};

// What was typed, without what only looks.
std::vector<std::string> fix_command(const RenderOptions& options, const std::vector<Drift>& drift) {
    const auto& image = options.image;
    std::vector<std::string> argv{"cudamatrix", "render", image.input.matrix};
    const auto add = [&](const char* name, const std::string& value) {
        if (value.empty()) return;
        argv.emplace_back(name);
        argv.push_back(value);
    };
    add("--facts", image.input.facts);
    add("--on", image.input.on);
    for (const auto& override : image.input.overrides)
        add("--override", override);
    add("--network", image.network);
    add("--ca-bundle", image.ca_bundle);
    add("--netrc", image.netrc);
    add("--out", image.out);
    add("--templates", image.templates);
    add("--suite", image.suite);
    for (auto& word : image.choice.words())
        argv.push_back(std::move(word));
    if (image.locked) argv.emplace_back("--locked");
    const bool orphans =
        std::ranges::any_of(drift, [](const Drift& one) { return one.kind == Drift::Kind::orphan; });
    if (orphans) argv.emplace_back("--prune");
    return argv;
}

Result<ExitCode> check(const RenderOptions& options, const Loaded& loaded, const World& world) {
    CM_TRY_ASSIGN(const auto settings, run_settings(options.image, loaded, world));
    CM_TRY_ASSIGN(auto compared, compare_render(run_input(loaded), settings));
    report::DriftReport report{loaded.matrix.name,
                               settings.out.string(),
                               std::move(compared.drift),
                               compared.files,
                               {},
                               tool_info(loaded.facts, loaded.today),
                               {world.colour_out, world.columns}};
    report.fix = fix_command(options, report.drift);
    print(report::format_named(report::drift_formats(), options.image.format)->write(report));
    return report.drift.empty() ? ExitCode::success : ExitCode::findings;
}

Result<ExitCode> write(const RenderOptions& options, Loaded& loaded, const World& world) {
    CM_TRY(options.image.step_summary.ready(world));
    CM_TRY(use_fixes_that_work(loaded, world));
    CM_TRY_ASSIGN(auto settings, run_settings(options.image, loaded, world));
    settings.prune = options.prune;
    CM_TRY_ASSIGN(const auto report, render_images(run_input(loaded), settings));
    // What `render` leaves behind is for committing: the same bytes every time, so no report with durations
    // in it.
    const auto& format = *report::format_named(report::run_formats(), options.image.format);
    print(format.write(report, {world.colour_out, world.columns}));
    CM_TRY(options.image.step_summary.append(world, [&] { return report::run_markdown(report); }));
    return static_cast<ExitCode>(report.exit_code);
}

// "FILE:LINE" in its parts; a number that is none stays in the name.
std::pair<std::string, std::size_t> file_and_line(const std::string& text) {
    const auto colon = text.rfind(':');
    if (colon == std::string::npos || colon + 1 == text.size() || text.size() - colon > 8 ||
        text.find_first_not_of("0123456789", colon + 1) != std::string::npos) {
        return {text, 0};
    }
    return {text.substr(0, colon), std::stoul(text.substr(colon + 1))};
}

// As the output folder's own names are: FILE may be written with the folder in front.
std::string inside(const std::string& file, const std::filesystem::path& out) {
    const auto path = std::filesystem::path(file).lexically_normal();
    std::error_code error;
    const auto relative = std::filesystem::absolute(path, error)
                              .lexically_relative(std::filesystem::absolute(out, error).lexically_normal());
    const bool below = !relative.empty() && *relative.begin() != "..";
    return (below ? relative : path).generic_string();
}

// Renders only the image that the file belongs to: the origins of thousands take memory.
Result<report::OriginReport> origins_of(const std::string& file, const RenderOptions& options,
                                        const Loaded& loaded, const std::filesystem::path& out) {
    auto plan = plan_images(loaded.matrix, lint::cells_with_image(loaded.judgement), loaded.facts,
                            taken_by(loaded.lock));
    std::vector<std::string> names{"compose.yaml", "compose.gpu.yaml", "compose.cdi.yaml",
                                   std::string(kMakeBaseFile)};
    for (const auto& image : plan.images)
        names.push_back(fmt::format("images/{}/Dockerfile", image.id));
    if (file.starts_with("images/")) {
        std::erase_if(plan.images, [&](const Image& image) {
            return !file.starts_with(fmt::format("images/{}/", image.id));
        });
    }
    mustache::Watch watch;
    watch.origins = true;
    const RenderSettings settings{options.image.templates,
                                  options.image.suite,
                                  loaded.facts.hash(),
                                  loaded.facts.date(),
                                  &watch,
                                  job::matrix_folder(loaded.matrix, out)};
    CM_TRY_ASSIGN(const auto rendering,
                  render_artifacts(loaded.matrix, plan.images, loaded.lock.value_or(Lock{}), settings));
    for (const auto& artifact : rendering.artifacts) {
        if (artifact.path.generic_string() != file) continue;
        const auto lines = watch.lines.find(artifact.content);
        if (lines == watch.lines.end()) return input_failure(fmt::format("{} comes from no template", file));
        return report::OriginReport{file, artifact.content, lines->second, 0, {}};
    }
    const auto near = text::did_you_mean(file, names);
    return input_failure(fmt::format("the matrix gives no file {}", text::printable(file)),
                         near ? fmt::format("did you mean {}?", *near) : "give its path inside the folder");
}

Result<ExitCode> explain(const RenderOptions& options, const Loaded& loaded, const World& world) {
    CM_TRY_ASSIGN(const auto settings, run_settings(options.image, loaded, world));
    const auto& out = settings.out;
    const auto [name, line] = file_and_line(options.explain);
    CM_TRY_ASSIGN(auto report, origins_of(inside(name, out), options, loaded, out));
    if (line > report.lines.size()) {
        return input_failure(
            fmt::format("{} has {}, not {}", report.file, text::count(report.lines.size(), "line"), line));
    }
    report.line = line;
    report.tool = tool_info(loaded.facts, loaded.today);
    print(report::format_named(report::origin_formats(), options.image.format)->write(report));
    return ExitCode::success;
}

Result<ExitCode> perform(const RenderOptions& options, const World& world) {
    const auto& format = options.image.format;
    if ((options.check || !options.explain.empty()) &&
        report::format_named(report::drift_formats(), format) == nullptr) {
        return input_failure(fmt::format("only what is rendered has a report in format {}", format),
                             "--format text or --format json");
    }
    if (!options.explain.empty() && options.image.choice.is_given()) {
        return input_failure("--explain explains a line and attempts no image: there is nothing to choose",
                             "leave out " + text::join(options.image.choice.words(), " "));
    }
    CM_TRY_ASSIGN(const auto loaded, load_for_images(options.image, world));
    if (!options.explain.empty()) return explain(options, *loaded, world);
    return options.check ? check(options, *loaded, world) : write(options, *loaded, world);
}

}  // namespace

Action add_render(const Arguments& app) {
    auto options = std::make_shared<RenderOptions>();
    options->image.add_output(app);
    options->image.add_build(app);
    add_format(app, options->image.format, report::names_of(report::run_formats()));
    const auto check =
        app.add_flag("--check", options->check,
                     "Write nothing; exit code 1, with a diff and the command that fixes it, if the folder "
                     "differs from the matrix");
    app.add_flag("--prune", options->prune,
                 "Remove files of earlier renders that no longer belong to a cell, and what builds left for "
                 "those images (logs, the suite's copies, copied files)")
        .excludes(check);
    const auto step_summary = options->image.step_summary.add(app).excludes(check);
    app.add_flag(
        "--locked", options->image.locked,
        "Fail and list what the lock does not cover, each pin that it lacks by its name, instead of rendering "
        "it unpinned");
    app.add_option(
           "--explain", options->explain,
           "Write nothing; show the template and line that a rendered line, or every line, comes from")
        .type_name("FILE[:LINE]")
        .excludes(step_summary)
        .excludes(check);
    return [options](const World& world) { return perform(*options, world); };
}

}  // namespace cudamatrix
