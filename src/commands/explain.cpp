#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "commands/common.hpp"
#include "knowledge/rules/rule.hpp"
#include "knowledge/solve/explain.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

struct ExplainOptions {
    MatrixOptions input;
    std::string cell;
    bool verbose = false;
    std::size_t limit = 3;
    std::string format;
    std::string out;
};

// What `rules show` prints.
Result<ExitCode> explain_rule(const ExplainOptions& options, const World& world) {
    if (!options.input.overrides.empty()) {
        return input_failure("--override changes cells, and a rule has none",
                             "name a matrix file and a cell, or leave --override out");
    }
    if (!options.input.look.empty()) {
        return input_failure("--look looks at what a matrix file names, and a rule names nothing",
                             "name a matrix file and a cell, or leave --look out");
    }
    CM_TRY_ASSIGN(const auto facts, load_facts(options.input.facts, world, options.input.on));
    const auto& today = options.input.on.empty() ? world.today : options.input.on;
    report::RulesReport report{
        rules::all_rules(), facts, today, tool_info(facts, today), {world.colour_out, world.columns}};
    const auto& format = *report::format_named(report::rules_formats(), options.format);
    CM_TRY(publish(report, "explain", options.format, options.out, [&](const report::RulesReport& about) {
        return format.write_one(about, options.input.matrix);
    }));
    return ExitCode::success;
}

bool is_good(const solve::Explanation& explanation) {
    return !explanation.cells.empty() &&
           std::ranges::all_of(explanation.cells, [](const solve::Account& account) {
               return account.cell->verdict <= Verdict::degraded;
           });
}

Result<ExitCode> explain_cells(const ExplainOptions& options, const World& world) {
    CM_TRY_ASSIGN(const auto loaded, load(options.input, world));
    auto& all = *loaded;
    const bool by_values = options.cell.find('=') != std::string::npos;
    const auto cell =
        by_values ? respelled_values(options.cell, said_spellings(all.facts, world)) : options.cell;
    CM_TRY_ASSIGN(const auto explanation, solve::explain(all.matrix, all.facts, all.judgement, all.today,
                                                         cell, options.limit, watched(world)));
    report::ExplainReport report{all.matrix, all.judgement, explanation, tool_info(all.facts, all.today),
                                 text_options(world)};
    report.text.verbose = options.verbose;
    CM_TRY(publish(report, "explain", options.format, options.out,
                   report::format_named(report::explain_formats(), options.format)->write));
    return is_good(explanation) ? ExitCode::success : ExitCode::findings;
}

Result<ExitCode> explain_it(const ExplainOptions& options, const World& world) {
    if (!options.cell.empty()) return explain_cells(options, world);
    // Ids of rules are words and hyphens; a misspelt one gets its "did you mean" there.
    std::error_code error;
    const auto& target = options.input.matrix;
    const bool is_path =
        target.find_first_of("./") != std::string::npos || std::filesystem::exists(target, error);
    if (rules::rule_named(target) != nullptr || !is_path) return explain_rule(options, world);
    return input_failure(fmt::format("explain {}: which cell?", text::printable(options.input.matrix)),
                         "give the id of a cell, as list prints them, or values: cuda=11.8,python=3.12");
}

}  // namespace

Action add_explain(const Arguments& app) {
    auto options = std::make_shared<ExplainOptions>();
    app.add_option("MATRIX", options->input.matrix, "The matrix file, or the id of a rule").required();
    app.add_option("CELL", options->cell,
                   "An id as list prints it, the 12 digits that end one, a pattern (drv470*), or values: "
                   "cuda=11.8,python=3.13, where each covers what it does not say");
    app.add_flag("-v,--verbose", options->verbose,
                 "Every stage, finding and fact, what passed and what was not checked");
    add_limit(app, options->limit, "Cells");
    add_facts_folder(app, options->input.facts);
    add_override(app, options->input.overrides);
    add_look(app, options->input.look);
    add_format(app, options->format, report::names_of(report::explain_formats()));
    add_day(app, options->input.on);
    add_report_folder(app, options->out);
    return [options](const World& world) { return explain_it(*options, world); };
}

}  // namespace cudamatrix
