#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <variant>

#include "base/file.hpp"
#include "base/text.hpp"
#include "commands/common.hpp"
#include "commands/look.hpp"
#include "knowledge/solve/suggest.hpp"
#include "knowledge/solve/variable.hpp"
#include "render/image/families.hpp"
#include "render/image/resolve_cell.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

struct SuggestOptions {
    std::array<std::string, kFieldCount> fields;
    std::vector<std::string> needs;
    std::size_t limit = 5;
    std::string overlay;
    std::string format;
    std::string on;
    std::string out;
    bool look = false;
};

constexpr std::array kHelp{
    FieldHelp{Field::gpu, "A GPU (T4) or a pattern (\"A100*\"); without it nothing about the GPU is checked"},
    FieldHelp{Field::driver, "Of the host: 470.161.03, a branch (550), or a range (\">=535\")"},
    FieldHelp{Field::torch, "A release, a build (2.6.0+cu124), a range (\">=1.12,<2\"), or none"},
    FieldHelp{Field::python, "3.12, or a range"},
    FieldHelp{Field::cuda, "The toolkit of the image: 12.4.1 or a range; without it none is suggested"},
    FieldHelp{Field::os, "The system of the image: ubuntu22.04, or a pattern (\"debian*\"); without it any"},
    FieldHelp{Field::arch, "x86_64 or aarch64"}};

// What is no need is for the search to refuse.
std::vector<solve::Need> needs_of(const SuggestOptions& options) {
    std::vector<solve::Need> needs;
    for (const auto& text : options.needs) {
        if (auto need = solve::need_of(text)) needs.push_back(*std::move(need));
    }
    return needs;
}

// A package, or a build of torch, that no fact describes and an index may have.
bool names_unknown(const SuggestOptions& options, const solve::Query& query, const Facts& facts,
                   std::string_view today) {
    if (!torch_requests(named_in(query.fields, facts), facts, today).empty()) return true;
    const auto known = solve::package_names(facts);
    const auto needs = needs_of(options);
    return std::ranges::any_of(needs, [&](const solve::Need& need) {
        return std::ranges::find(known, need.package) == known.end();
    });
}

// The same call with --look: each value in quotes, for a shell.
std::string call_that_looks(const SuggestOptions& options) {
    std::string call = "cudamatrix suggest --look";
    for (const auto field : solve::query_fields()) {
        const auto& value = options.fields[static_cast<std::size_t>(field)];
        if (!value.empty()) call += fmt::format(" --{} '{}'", info(field).name, text::printable(value));
    }
    for (const auto& need : options.needs)
        call += fmt::format(" --need '{}'", text::printable(need));
    return call;
}

// Stacks for which pip's resolver finds no wheels make room for others, which it is asked about in turn.
Result<solve::Suggestion> search(const SuggestOptions& options, const solve::Query& query,
                                 const std::string& today, const World& world, Facts& facts) {
    constexpr int kMostRounds = 4;
    std::set<PipQuestion> asked;  // what was not answered is not asked twice
    for (int round = 1;; ++round) {
        auto found = solve::suggest(facts, query, {today, options.limit, renderer_of(facts), watched(world)});
        if (!found.ok() || !options.look || round == kMostRounds) return found;
        PipQuestions questions;
        for (const auto& stack : found->stacks)
            add_pip_question(stack.cell(), facts, world.today, questions);
        std::erase_if(questions.open,
                      [&](const PipQuestion& question) { return !asked.insert(question).second; });
        CM_TRY_ASSIGN(const bool told, look_with_pip(questions, options.overlay, {}, world, facts));
        if (!told) return found;
    }
}

Result<ExitCode> suggest_stacks(const SuggestOptions& options, const World& world) {
    CM_TRY_ASSIGN(auto facts, load_facts(options.overlay, world, options.on));
    const auto& today = options.on.empty() ? world.today : options.on;
    const auto spelling = said_spellings(facts, world);
    solve::Query query;
    for (const auto field : solve::query_fields()) {
        const auto& text = options.fields[static_cast<std::size_t>(field)];
        if (!text.empty()) query.fields.emplace_back(field, respelled_alternative(field, text, spelling));
    }
    query.needs = options.needs;
    if (options.look) {
        CM_TRY(look_for({query.fields, needs_of(options)}, options.overlay, world, facts));
    }
    auto found = search(options, query, today, world, facts);
    if (!found.ok() && !options.look && names_unknown(options, query, facts, world.today)) {
        auto failure = found.failure();
        auto& last = failure.diagnostics.back();
        last = std::move(last).with_note("the index is asked by: " + call_that_looks(options));
        return failure;
    }
    CM_TRY_ASSIGN(const auto suggestion, std::move(found));
    report::SuggestReport report{suggestion, tool_info(facts, today), {world.colour_out, world.columns}};
    warn_of_age(report.tool, world);
    CM_TRY(publish(report, "suggest", options.format, options.out,
                   report::format_named(report::suggest_formats(), options.format)->write));
    if (suggestion.stacks.empty()) return ExitCode::findings;
    if (!options.out.empty()) {
        CM_TRY(
            file::write(std::filesystem::path(options.out) / "suggest.yaml", solve::matrix_text(suggestion)));
    }
    return ExitCode::success;
}

}  // namespace

solve::Renderer renderer_of(const Facts& facts) {
    solve::Renderer out;
    for (const auto& family : family::all())
        out.families.emplace_back(family.name);
    out.render = [&facts](const Cell& cell) -> solve::Renderer::Rendering {
        const Matrix matrix;
        auto made = resolve_cell(matrix, cell, facts);
        if (auto* refusal = std::get_if<std::string>(&made)) return {{}, std::move(*refusal)};
        return {std::move(std::get<Image>(made).os), {}};
    };
    return out;
}

Action add_suggest(const Arguments& app) {
    auto options = std::make_shared<SuggestOptions>();
    for (const auto& help : kHelp)
        add_field(app, help, options->fields[static_cast<std::size_t>(help.field)]);
    app.add_option("--need", options->needs,
                   "A Python package: transformers==4.27.4, a range, or its name; may be given again")
        .type_name("PACKAGE")
        .one_value_each();
    app.add_flag(
        "--look", options->look,
        "Ask the index for the packages of --need that no fact knows, for newer releases of the others, and for a "
        "--torch that no fact knows, and pip's resolver for the stacks; kept in ~/.cache/cudamatrix/facts");
    add_limit(app, options->limit, "Stacks");
    add_facts_folder(app, options->overlay);
    add_format(app, options->format, report::names_of(report::suggest_formats()));
    add_day(app, options->on);
    add_report_folder(app, options->out);
    return [options](const World& world) { return suggest_stacks(*options, world); };
}

}  // namespace cudamatrix
