#include "lint/lint.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

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

ExitCode perform(const LintOptions& options, const World& world) {
    const auto loaded = load(options.input, world);
    if (!loaded.ok()) return report_failure(loaded.failure(), world);
    const auto& [matrix, facts, judgement, today, host] = *loaded.value();
    const auto tool = tool_info(facts, today);
    const auto found = lint::lint({matrix, facts, judgement, today, options.within, tool.facts_warning,
                                   options.input.overrides.empty()});
    report::LintReport report{matrix, judgement, found, tool, {world.colour_out, world.columns}};
    const auto& format = *report::format_named(report::lint_formats(), options.format);
    print(format.write(report));
    if (!options.out.empty()) {
        report.text = {};
        const auto written = write_report(options.out, "lint", options.format, format.write(report));
        if (!written.ok()) return report_failure(written.failure(), world);
    }
    return found.count(Severity::error) + found.count(Severity::warning) > 0 ? ExitCode::findings
                                                                             : ExitCode::success;
}

}  // namespace

Action add_lint(CLI::App& app) {
    auto options = std::make_shared<LintOptions>();
    options->input.add(app);
    options->input.add_override(app);
    app.add_option("--within", options->within, "Days before its last one in which a waiver is about to end")
        ->type_name("DAYS")
        ->check(CLI::Range(0u, 3650u))
        ->capture_default_str();
    add_format(app, options->format, report::names_of(report::lint_formats()));
    add_report_folder(app, options->out);
    return [options](const World& world) { return perform(*options, world); };
}

}  // namespace cudamatrix
