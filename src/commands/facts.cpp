#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include "commands/common.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

struct FactsOptions {
    std::string overlay;
    std::string id;
    std::string format;
};

ExitCode show(const FactsOptions& options, const World& world) {
    const auto facts = load_facts(options.overlay);
    if (!facts.ok()) return report_failure(facts.failure(), world);
    const report::FactsReport report{
        facts->tables(), tool_info(facts.value()), {world.colour_out, world.columns}};
    const auto& format = *report::format_named(report::facts_formats(), options.format);
    if (options.id.empty()) {
        print(format.write(report));
        return ExitCode::success;
    }
    const auto text = format.write_one(report, options.id);
    if (!text.ok()) return report_failure(text.failure(), world);
    print(text.value());
    return ExitCode::success;
}

}  // namespace

Action add_facts(CLI::App& app) {
    auto options = std::make_shared<FactsOptions>();
    app.require_subcommand(1);
    auto* command = app.add_subcommand("show", "List the tables, or show one table or one row");
    command->add_option("ID", options->id,
                        "A row or a table, e.g. driver-r470; without it the tables are listed");
    command->add_option("--facts", options->overlay, "Folder of fact tables laid over the embedded ones")
        ->type_name("DIR");
    add_format(*command, options->format, report::names_of(report::facts_formats()));
    command->footer("Example: cudamatrix facts show driver-r470");
    return [options](const World& world) { return show(*options, world); };
}

}  // namespace cudamatrix
