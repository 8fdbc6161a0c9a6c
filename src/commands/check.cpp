#include <algorithm>

#include "base/text.hpp"
#include "commands/common.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

struct CheckOptions {
    MatrixOptions input;
    std::string format;
    std::string out;
    std::string fail_on = "unknown";
    bool summary = false;
    bool verbose = false;
};

// Whether something is as bad as --fail-on says.
bool fails(const Judgement& judgement, std::string_view fail_on) {
    const auto found = [&](Verdict verdict, Severity severity) {
        return judgement.count(verdict) != 0 || judgement.deployment_has(severity);
    };
    const auto is_old = [](const RuleCount& rule) { return rule.by(Severity::notice) != 0; };
    if (fail_on == "never") return false;
    if (found(Verdict::rejected, Severity::error)) return true;
    if (fail_on == "rejected") return false;
    if (found(Verdict::unknown, Severity::unknown)) return true;
    if (fail_on == "degraded") return found(Verdict::degraded, Severity::warning);
    return fail_on == "end-of-life" && std::ranges::any_of(judgement.rules, is_old);
}

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
    report.text.verbose = options.verbose;
    CM_TRY(publish(report, options.summary ? "check-summary" : "check", options.format, options.out,
                   options.summary ? format.write_summary : format.write));
    return fails(judgement, options.fail_on) ? ExitCode::findings : ExitCode::success;
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
    app.add_option("--fail-on", options->fail_on,
                   "Exit code 1 where a cell is rejected, unknown or rejected (unknown), or degraded, too; "
                   "end-of-life: as unknown, or where something is no longer supported; never: nothing")
        .one_of({"rejected", "unknown", "degraded", "end-of-life", "never"})
        .show_default();
    app.add_flag("-v,--verbose", options->verbose,
                 "Each finding with its line of the file, the facts behind it and their sources; notes, too");
    app.add_flag("--summary", options->summary, "Counts by verdict and rule, no cell listed");
    return [options](const World& world) { return check(*options, world); };
}

}  // namespace cudamatrix
