#include <algorithm>
#include <filesystem>

#include "advise/lint/find.hpp"
#include "base/text.hpp"
#include "commands/common.hpp"
#include "commands/github_files.hpp"
#include "render/image/image_plan.hpp"
#include "render/lock/lock_file.hpp"
#include "report/against_lock.hpp"
#include "report/formats.hpp"
#include "run/job/job.hpp"

namespace cudamatrix {
namespace {

struct CheckOptions {
    MatrixOptions input;
    std::string format;
    std::string out;
    std::string fail_on = "unknown";
    std::string against_lock;  ///< empty: not given
    bool summary = false;
    bool verbose = false;
    StepSummary step_summary;
};

constexpr std::string_view kBeside = "beside";  // --against-lock without a path

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

// What `check` accepts and `render` refuses, once for each reason: of the cells that say which of our images
// they want. A matrix that names none asks about combinations, and one of a whole reference about that image.
std::vector<Diagnostic> not_rendered(const Loaded& loaded) {
    auto cells = lint::cells_with_image(loaded.judgement);
    const bool images = !loaded.matrix.deployment.images.empty();
    std::erase_if(cells, [&](const PlannedCell& planned) {
        return planned.cell.has(Field::image) || !(images || planned.cell.has(Field::family));
    });
    std::vector<Diagnostic> notes;
    for (const auto& group :
         grouped(refusals_of(loaded.matrix, cells, loaded.facts, taken_by(loaded.lock)))) {
        const auto first = std::ranges::find(cells, group.first_cell, &PlannedCell::id);
        notes.push_back(
            Diagnostic::note(fmt::format("{} {} accepted and cannot be rendered, first {}: {}",
                                         text::count(group.cells, "cell"), group.cells == 1 ? "is" : "are",
                                         group.first_cell, group.reason),
                             place_of_family(first->cell))
                .with_fix(group.fix));
    }
    return notes;
}

Result<ExitCode> check_against_lock(const CheckOptions& options, const World& world) {
    if (options.format != "text" && options.format != "json") {
        return input_failure(fmt::format("--against-lock has no format {}", options.format),
                             "--format text or json");
    }
    auto input = options.input;
    if (options.against_lock != kBeside) input.lock = options.against_lock;
    CM_TRY_ASSIGN(const auto loaded, load(input, world));
    const auto path = input.lock.empty() ? job::lock_path(loaded->matrix) : std::filesystem::path(input.lock);
    if (!loaded->lock) {
        return input_failure("--against-lock: there is no " + text::printable(path.string()),
                             "cudamatrix lock " + loaded->matrix.path);
    }
    const auto judged = check_report(*loaded, world);
    CM_TRY_ASSIGN(auto report, report::compare_verdicts(judged, *loaded->lock, path.string()));
    const auto text =
        options.format == "json" ? report::against_lock_json(report) : report::against_lock_text(report);
    CM_TRY(publish(text, "check-against-lock", options.format, options.out));
    return report.is_news() ? ExitCode::findings : ExitCode::success;
}

Result<ExitCode> check(const CheckOptions& options, const World& world) {
    if (!options.against_lock.empty()) return check_against_lock(options, world);
    const auto& format = *report::format_named(report::check_formats(), options.format);
    if (options.summary && format.write_summary == nullptr) {
        return input_failure(fmt::format("--summary has no format {}", options.format),
                             "--format text or json");
    }
    CM_TRY(options.step_summary.ready(world));
    CM_TRY_ASSIGN(const auto loaded, load(options.input, world, !options.summary));
    if (!options.summary) {
        CM_TRY(use_fixes_that_work(*loaded, world));
    }
    const auto& judgement = loaded->judgement;
    auto report = check_report(*loaded, world);
    report.text.verbose = options.verbose;
    if (!options.summary) report.not_rendered = not_rendered(*loaded);
    CM_TRY(publish(report, options.summary ? "check-summary" : "check", options.format, options.out,
                   options.summary ? format.write_summary : format.write));
    CM_TRY(options.step_summary.append(world, [&] { return report::check_markdown(report); }));
    return fails(judgement, options.fail_on) ? ExitCode::findings : ExitCode::success;
}

}  // namespace

Action add_check(const Arguments& app) {
    auto options = std::make_shared<CheckOptions>();
    options->input.add(app);
    add_format(app, options->format, report::names_of(report::check_formats()));
    add_hosts(app, options->input.hosts,
              "Judge against this machine: its driver, GPUs, kernel module, container toolkit and "
              "architecture instead of those of the file");
    add_report_folder(app, options->out);
    const auto fail_on =
        app.add_option(
               "--fail-on", options->fail_on,
               "Exit code 1 where a cell is rejected, unknown or rejected (unknown), or degraded, too; "
               "end-of-life: as unknown, or where something is no longer supported; never: nothing")
            .one_of({"rejected", "unknown", "degraded", "end-of-life", "never"})
            .show_default();
    app.add_flag("-v,--verbose", options->verbose,
                 "Each finding with its line of the file, the facts behind it and their sources; notes, too");
    const auto summary =
        app.add_flag("--summary", options->summary, "Counts by verdict and rule, no cell listed");
    const auto step_summary = options->step_summary.add(app).excludes(summary);
    app.add_flag(
           "--against-lock{beside}", options->against_lock,
           "Exit code 1 only where a verdict differs from the one that `lock` recorded in the "
           "cudamatrix.lock beside the matrix file, or in --against-lock=FILE, or where images or services "
           "have an error; says which and why. New and gone cells are listed and do not count. Example: "
           "check matrix.yaml --against-lock")
        .excludes(summary)
        .excludes(step_summary)
        .excludes(fail_on);
    return [options](const World& world) { return check(*options, world); };
}

}  // namespace cudamatrix
