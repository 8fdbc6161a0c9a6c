// build, test and run: the same options, each going one step further than the one before.

#include "base/text.hpp"
#include "commands/image_options.hpp"
#include "report/formats.hpp"
#include "run/prove/rejection_attempt.hpp"

namespace cudamatrix {
namespace {

using Job = Result<RunReport> (*)(const RunInput&, const RunSettings&);

// The reports lie beside the artifacts, whatever stdout carries.
template <class Report, class Formats>
ExitCode write_all(const Report& report, std::string_view name, const Formats& formats,
                   const RunSettings& settings, const std::string& shown, const World& world) {
    auto code = static_cast<ExitCode>(report.exit_code);
    for (const auto& format : formats) {
        const auto written = write_report(settings.out, name, format.name, format.write(report, {}));
        if (written.ok()) continue;
        code = worse(code, report_failure(written.failure(), world));
        break;
    }
    print(report::format_named(formats, shown)->write(report, {world.colour_out, world.columns}));
    return code;
}

std::string_view name_of(Job job) {
    return job == run_all ? "run" : job == build_images ? "build" : "test";
}

Result<ExitCode> rehearse_job(Job job, const ImageOptions& options, const Loaded& loaded,
                              const RunSettings& settings) {
    const auto* format = report::format_named(report::rehearsal_formats(), options.format);
    if (format == nullptr) {
        return input_failure(fmt::format("--dry-run has no report of format {}", options.format),
                             "--format " + text::join(report::names_of(report::rehearsal_formats()), " or "));
    }
    CM_TRY_ASSIGN(const auto rehearsal, rehearse(run_input(loaded), settings, name_of(job)));
    print(format->write(rehearsal));
    return ExitCode::success;
}

Result<ExitCode> perform(Job job, const ImageOptions& options, const World& world) {
    if (options.dry_run && options.step_summary.wanted)
        return input_failure("--dry-run makes no report to sum up", "leave out --step-summary");
    CM_TRY(options.step_summary.ready(world));
    CM_TRY_ASSIGN(const auto loaded, load_for_images(options, world));
    CM_TRY_ASSIGN(const auto settings, run_settings(options, *loaded, world));
    if (options.dry_run) return rehearse_job(job, options, *loaded, settings);
    CM_TRY(use_fixes_that_work(*loaded, world));
    CM_TRY_ASSIGN(const auto report, job(run_input(*loaded), settings));
    const auto code = write_all(report, "report", report::run_formats(), settings, options.format, world);
    const auto added = options.step_summary.append(world, [&] { return report::run_markdown(report); });
    return added.ok() ? code : worse(code, report_failure(added.failure(), world));
}

Result<ExitCode> prove_rejected(const ImageOptions& options, const World& world) {
    const auto& choice = options.choice;
    if (!choice.only.empty() || choice.failed || choice.max_images != 0) {
        return input_failure("--prove-rejected attempts cells that have no image",
                             "choose them with --cell or --where, not with --only, --failed or --max-images");
    }
    if (report::format_named(report::rejection_formats(), options.format) == nullptr) {
        return input_failure(fmt::format("--prove-rejected has no report in format {}", options.format),
                             "--format " + text::join(report::names_of(report::rejection_formats()), ", "));
    }
    CM_TRY_ASSIGN(const auto loaded, load_for_images(options, world));
    CM_TRY_ASSIGN(const auto settings, run_settings(options, *loaded, world));
    CM_TRY_ASSIGN(const auto report, prove_rejections(run_input(*loaded), settings, settings.choice));
    return write_all(report, "rejections", report::rejection_formats(), settings, options.format, world);
}

// What all three take; the flag of the summary.
Argument add_job(const Arguments& app, ImageOptions& options) {
    options.add_output(app);
    add_format(app, options.format, report::names_of(report::run_formats()));
    options.add_engine(app);
    options.add_schedule(app);
    options.add_gpu_demand(app);
    return options.step_summary.add(app);
}

}  // namespace

Action add_run(const Arguments& app) {
    auto options = std::make_shared<ImageOptions>();
    add_job(app, *options);
    options->add_level(app);
    app.add_flag("--locked", options->locked,
                 "Refuse what the lock does not cover, and name what is missing, instead of pinning it");
    return [options](const World& world) { return perform(run_all, *options, world); };
}

Action add_build(const Arguments& app) {
    auto options = std::make_shared<ImageOptions>();
    const auto prepare = std::make_shared<bool>(false);
    add_job(app, *options);
    app.add_flag("--prepare", *prepare,
                 "Make the bases and fill the build contexts, and build nothing: for other builders, such as "
                 "`docker buildx bake` with what `emit bake` writes");
    return [options, prepare](const World& world) {
        return perform(*prepare ? prepare_builds : build_images, *options, world);
    };
}
Action add_test(const Arguments& app) {
    auto options = std::make_shared<ImageOptions>();
    const auto prove = std::make_shared<bool>(false);
    const auto step_summary = add_job(app, *options);
    options->add_level(app);
    app.add_flag(
           "--prove-rejected", *prove,
           "Attempt what the rules reject instead, in throw-away containers: it has to fail as they say. The "
           "report also goes to OUT/rejections.txt, .json and .xml")
        .excludes(step_summary);
    return [options, prove](const World& world) {
        return *prove ? prove_rejected(*options, world) : perform(test_images, *options, world);
    };
}

namespace {

constexpr const char* kAll = "all";

struct LockOptions {
    ImageOptions image;
    std::string update;  ///< empty: not given
};

Result<ExitCode> lock(const LockOptions& options, const World& world) {
    CM_TRY_ASSIGN(const auto loaded, load_for_images(options.image, world));
    CM_TRY_ASSIGN(const auto settings, run_settings(options.image, *loaded, world));
    LockChoice choice;
    choice.update = !options.update.empty();
    if (choice.update && options.update != kAll) choice.what = text::split(options.update, ',');
    CM_TRY_ASSIGN(const auto report, make_lock(run_input(*loaded), settings, choice));
    const auto& format = *report::format_named(report::lock_formats(), options.image.format);
    print(format.write({report.changes, report.findings}));
    if (report.findings.empty()) return report.code;
    return Failure{report.code, report.findings};
}

}  // namespace

Action add_lock(const Arguments& app) {
    auto options = std::make_shared<LockOptions>();
    options->image.add_output(app);
    add_format(app, options->image.format, report::names_of(report::lock_formats()));
    options->image.add_engine(app);
    app.add_flag(
        "--update{all}", options->update,
        "Move pins that exist, and say what moved: --update all of them, --update=WHAT,... only images "
        "(digests of registries' tags), bases (bootstrap tars), apt, wheels, one image by its id, or one "
        "base by its reference. Without it, a tag that moved or vanished is a finding (exit 1)");
    return [options](const World& world) { return lock(*options, world); };
}

}  // namespace cudamatrix
