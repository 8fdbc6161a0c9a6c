#include <algorithm>

#include "commands/common.hpp"
#include "commands/index_options.hpp"
#include "commands/look.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

struct FactsOptions {
    std::string overlay;
    std::string id;
    std::vector<std::string> words;
    std::string format;
    std::string out;
    std::string on;
    bool mine = false;
};

using Writer = Result<std::string> (*)(const report::FactsFormat&, const report::FactsReport&,
                                       const FactsOptions&, ExitCode&);

Result<std::string> write_list(const report::FactsFormat& format, const report::FactsReport& report,
                               const FactsOptions&, ExitCode&) {
    return format.write(report);
}

Result<std::string> write_one(const report::FactsFormat& format, const report::FactsReport& report,
                              const FactsOptions& options, ExitCode&) {
    return options.id.empty() ? Result<std::string>(format.write(report))
                              : format.write_one(report, options.id);
}

Result<std::string> write_found(const report::FactsFormat& format, const report::FactsReport& report,
                                const FactsOptions& options, ExitCode& code) {
    const auto found = report::search_facts(report, options.words);
    if (found.rows.empty()) code = ExitCode::findings;
    return format.write_search(report, found);
}

Result<std::string> write_check(const report::FactsFormat& format, const report::FactsReport& report,
                                const FactsOptions&, ExitCode&) {
    return format.write_check(report);
}

Result<ExitCode> perform(std::string_view name, Writer writer, const FactsOptions& options,
                         const World& world) {
    CM_TRY_ASSIGN(const auto facts, load_facts(options.overlay, world, options.on));
    // An overlay is checked as it is laid; what this binary carries only when it is asked for.
    if (writer == write_check) {
        if (auto mistakes = facts.check(std::max(world.today, options.on)); !mistakes.empty())
            return Failure{ExitCode::bad_input, std::move(mistakes)};
    }
    const auto& today = options.on.empty() ? world.today : options.on;
    report::FactsReport report{
        facts.tables(), tool_info(facts, today), {world.colour_out, world.columns}, today};
    warn_of_age(report.tool, world);
    const auto& format = *report::format_named(report::facts_formats(), options.format);
    auto code = ExitCode::success;
    CM_TRY(publish(report, name, options.format, options.out,
                   [&](const report::FactsReport& about) { return writer(format, about, options, code); }));
    return code;
}

// `facts list --mine`.
Result<ExitCode> list_mine(const FactsOptions& options, const World& world) {
    if (!options.overlay.empty()) {
        return input_failure("--mine and --facts name two folders: one report lists one of them",
                             "leave one of the two out");
    }
    CM_TRY_ASSIGN(const auto store, own_store(world));
    CM_TRY_ASSIGN(const auto facts, facts_with_store({}, store, world));
    const auto own = facts.laid_over();
    const auto& today = options.on.empty() ? world.today : options.on;
    report::FactsReport report{own, tool_info(facts, today), {world.colour_out, world.columns}, today};
    const auto& format = *report::format_named(report::facts_formats(), options.format);
    CM_TRY(publish(report, "facts-list", options.format, options.out, [&](const report::FactsReport& about) {
        return format.write_mine(about, store.string());
    }));
    return ExitCode::success;
}

struct SubCommand {
    std::string_view name;
    std::string_view file;
    std::string_view summary;
    std::string_view example;
    Writer writer;
};

constexpr SubCommand kSubCommands[] = {
    {"list", "facts-list", "List the tables with their columns and the number of rows by confidence",
     "cudamatrix facts list", write_list},
    {"show", "facts-show", "Show one table or one row with its source", "cudamatrix facts show driver-r470",
     write_one},
    {"search", "facts-search", "Find the rows that hold all the words; exit code 1 when there is none",
     "cudamatrix facts search T4 compute", write_found},
    {"check", "facts-check", "Check every row: ids, sources, dates, columns, references, ranges",
     "cudamatrix facts check --facts my-facts", write_check},
};

}  // namespace

Action add_facts(const Arguments& app) {
    auto options = std::make_shared<FactsOptions>();
    app.require_subcommand();
    std::vector<std::pair<Arguments, const SubCommand*>> added;
    for (const auto& each : kSubCommands) {
        const auto command = app.add_subcommand(std::string(each.name), std::string(each.summary));
        if (each.writer == write_one) {
            command.add_option("ID", options->id,
                               "A row or a table, e.g. driver-r470; without it the tables are listed");
        } else if (each.writer == write_found) {
            command.add_option("WORD", options->words, "Words that a row must hold, in any column")
                .required();
        }
        if (each.writer == write_list)
            command.add_flag("--mine", options->mine,
                             "The rows that --look has measured for you, with their sources");
        add_facts_folder(command, options->overlay);
        add_format(command, options->format, report::names_of(report::facts_formats()));
        add_day(command, options->on);
        add_report_folder(command, options->out);
        command.footer("Example: " + std::string(each.example));
        added.emplace_back(command, &each);
    }
    const auto measure = app.add_subcommand("measure", "Write rows by looking into the wheels of an index");
    const auto measuring = add_facts_measure(measure);
    const auto refresh =
        app.add_subcommand("refresh", "Look for what indexes and archives have that the facts do not know");
    const auto refreshing = add_facts_refresh(refresh);
    const auto log = app.add_subcommand("log", "Show which rows of a folder are others than they were");
    const auto logging = add_facts_log(log);
    return [options, added, measure, measuring, refresh, refreshing, log,
            logging](const World& world) -> Result<ExitCode> {
        if (log.parsed()) return logging(world);
        if (measure.parsed()) return measuring(world);
        if (refresh.parsed()) return refreshing(world);
        if (options->mine) return list_mine(*options, world);
        for (const auto& [command, each] : added) {
            if (command.parsed()) return perform(each->file, each->writer, *options, world);
        }
        return ExitCode::bad_input;  // CLI11 requires one of them
    };
}

}  // namespace cudamatrix
