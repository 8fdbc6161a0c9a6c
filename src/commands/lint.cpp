#include "advise/lint/lint.hpp"

#include "base/text.hpp"
#include "commands/common.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

struct LintOptions {
    MatrixOptions input;
    std::string format;
    std::string out;
    unsigned within = 30;
};

Result<ExitCode> perform(const LintOptions& options, const World& world) {
    CM_TRY_ASSIGN(const auto loaded, load(options.input, world));
    CM_TRY(use_fixes_that_work(*loaded, world));
    const auto& [matrix, facts, judgement, today, host, locked] = *loaded;
    const auto tool = tool_info(facts, today);
    const auto found = lint::lint({matrix, facts, judgement, today, options.within, tool.facts_warning,
                                   options.input.overrides.empty()});
    report::LintReport report{matrix,          judgement, found, tool, {world.colour_out, world.columns},
                              current_folder()};
    const auto& format = *report::format_named(report::lint_formats(), options.format);
    CM_TRY(publish(report, "lint", options.format, options.out, format.write));
    return found.count(Severity::error) + found.count(Severity::warning) > 0 ? ExitCode::findings
                                                                             : ExitCode::success;
}

}  // namespace

Action add_lint(const Arguments& app) {
    auto options = std::make_shared<LintOptions>();
    options->input.add(app);
    options->input.says_spellings = false;  // the report does
    app.add_option("--within", options->within, "Days before its last one in which a waiver is about to end")
        .type_name("DAYS")
        .between(0, 3650)
        .show_default();
    add_format(app, options->format, report::names_of(report::lint_formats()));
    add_report_folder(app, options->out);
    return [options](const World& world) { return perform(*options, world); };
}

}  // namespace cudamatrix
