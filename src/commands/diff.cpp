// diff: what moved between two states of a matrix file, of its lock, of the facts or of what was run.
#include "base/text.hpp"
#include "commands/common.hpp"
#include "commands/diff_sides.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

bool is_of_matrix(SideKind kind) {
    return kind == SideKind::matrix || kind == SideKind::lock;
}

}  // namespace

Result<ExitCode> print_diff(const DiffOptions& options, const World& world) {
    CM_TRY(options.step_summary.ready(world));
    CM_TRY_ASSIGN(const auto facts, load_facts(options.facts, world, options.sides.on));
    CM_TRY_ASSIGN(const auto before, load_side(options.before, facts, options.sides, world));
    CM_TRY_ASSIGN(const auto now, load_side(options.now, facts, options.sides, world));
    if (before->kind != now->kind && !(is_of_matrix(before->kind) && is_of_matrix(now->kind))) {
        return input_failure(
            fmt::format("{} is {} and {} is {}: they have nothing in common", text::printable(options.before),
                        to_string(before->kind), text::printable(options.now), to_string(now->kind)),
            "compare two of a kind, or a matrix file with a lock");
    }
    const bool folders = now->kind == SideKind::facts;
    if (folders ? !options.facts.empty() : !options.sides.matrix.empty()) {
        return input_failure(folders
                                 ? "--facts is for matrix files: the sides are folders of facts themselves"
                                 : "--matrix is for two folders of facts: it is judged with each",
                             folders ? "leave it out" : "leave it out, or compare two folders of facts");
    }
    const auto diff = diff::compare(before->side, now->side);
    if (!diff.compared)
        return input_failure(text::join(diff.notes, "; "),
                             "write the lock again with this version: cudamatrix lock");
    report::DiffReport report{diff, tool_info(facts, world.today), text_options(world)};
    report.text.verbose = options.verbose;
    CM_TRY(publish(report, "diff", options.format, options.out,
                   report::format_named(report::diff_formats(), options.format)->write));
    CM_TRY(options.step_summary.append(world, [&] { return report::diff_markdown(report); }));
    return diff.is_news() ? ExitCode::findings : ExitCode::success;
}

void DiffOptions::add(const Arguments& app) {
    app.add_option("--matrix", sides.matrix,
                   "Between two folders of facts: judge this matrix file with each, and show what moves")
        .type_name("FILE");
    add_day(app, sides.on);
    app.add_flag("-v,--verbose", verbose, "List every line, not 40 of a kind");
    add_format(app, format, report::names_of(report::diff_formats()));
    add_report_folder(app, out);
    step_summary.add(app);
}

Action add_diff(const Arguments& app) {
    auto options = std::make_shared<DiffOptions>();
    app.add_option("BEFORE", options->before,
                   "Matrix file, lock, report of a run, folder of facts, or REV:PATH")
        .required();
    app.add_option("NOW", options->now, "The same, later").required();
    add_facts_folder(app, options->facts);
    options->add(app);
    return [options](const World& world) { return print_diff(*options, world); };
}

}  // namespace cudamatrix
