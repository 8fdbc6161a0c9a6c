#include "base/text.hpp"
#include "commands/common.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

constexpr const char* kAll = "all";

struct LockOptions {
    ImageOptions image;
    std::string update;  ///< empty: not given
};

Result<ExitCode> lock(const LockOptions& options, const World& world) {
    CM_TRY_ASSIGN(const auto loaded, load_for_images(options.image, world));
    const auto settings = run_settings(options.image, *loaded, world);
    const auto& [matrix, facts, judgement, today, host] = *loaded;
    LockChoice choice;
    choice.update = !options.update.empty();
    if (choice.update && options.update != kAll) choice.what = text::split(options.update, ',');
    CM_TRY_ASSIGN(const auto report, make_lock({matrix, facts, judgement}, settings, choice));
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
