#include "commands/common.hpp"
#include "knowledge/rules/rule.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

struct RulesOptions {
    std::string id;
    std::string format;
    std::string overlay;
    std::string on;
    std::string out;
};

Result<ExitCode> perform(std::string_view name, const RulesOptions& options, const World& world) {
    CM_TRY_ASSIGN(const auto facts, load_facts(options.overlay, world, options.on));
    const auto& today = options.on.empty() ? world.today : options.on;
    report::RulesReport report{
        rules::all_rules(), facts, today, tool_info(facts, today), {world.colour_out, world.columns}};
    warn_of_age(report.tool, world);
    const auto& format = *report::format_named(report::rules_formats(), options.format);
    CM_TRY(publish(report, name, options.format, options.out, [&](const report::RulesReport& about) {
        return options.id.empty() ? Result<std::string>(format.write(about))
                                  : format.write_one(about, options.id);
    }));
    return ExitCode::success;
}

}  // namespace

Action add_rules(const Arguments& app) {
    auto options = std::make_shared<RulesOptions>();
    app.require_subcommand();
    const auto list = app.add_subcommand("list", "List the rules with their stages");
    list.footer("Example: cudamatrix rules list --format json");
    const auto show = app.add_subcommand("show", "Show one rule: why it is, and what fails and passes it");
    show.add_option("ID", options->id, "The id of a rule, as findings print it").required();
    show.footer("Example: cudamatrix rules show driver-supports-cuda");
    for (const auto& command : {list, show}) {
        add_facts_folder(command, options->overlay);
        add_format(command, options->format, report::names_of(report::rules_formats()));
        add_day(command, options->on);
        add_report_folder(command, options->out);
    }
    return [options, list](const World& world) {
        return perform(list.parsed() ? "rules-list" : "rules-show", *options, world);
    };
}

}  // namespace cudamatrix
