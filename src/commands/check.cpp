#include "base/text.hpp"
#include "commands/common.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

struct CheckOptions {
    MatrixOptions input;
    std::string format;
    std::string out;
    bool summary = false;
};

Result<ExitCode> check(const CheckOptions& options, const World& world) {
    const auto& format = *report::format_named(report::check_formats(), options.format);
    if (options.summary && format.write_summary == nullptr) {
        return input_failure(fmt::format("--summary has no format {}", options.format),
                             "--format text or json");
    }
    CM_TRY_ASSIGN(const auto loaded, load(options.input, world, !options.summary));
    if (!options.summary) {
        CM_TRY(use_fixes_that_work(*loaded, world));
    }
    const auto& judgement = loaded->judgement;
    auto report = check_report(*loaded, world);
    CM_TRY(publish(report, options.summary ? "check-summary" : "check", options.format, options.out,
                   options.summary ? format.write_summary : format.write));
    const bool act = judgement.count(Verdict::rejected) + judgement.count(Verdict::unknown) > 0 ||
                     judgement.deployment_has(Severity::error) || judgement.deployment_has(Severity::unknown);
    return act ? ExitCode::findings : ExitCode::success;
}

}  // namespace

Action add_check(const Arguments& app) {
    auto options = std::make_shared<CheckOptions>();
    options->input.add(app);
    add_format(app, options->format, report::names_of(report::check_formats()));
    app.add_flag("--host", options->input.host,
                 "Judge against this machine: its driver, GPUs, kernel module, container toolkit and "
                 "architecture instead of those of the file");
    add_report_folder(app, options->out);
    app.add_flag("--summary", options->summary, "Counts by verdict and rule, no cell listed");
    return [options](const World& world) { return check(*options, world); };
}

}  // namespace cudamatrix
