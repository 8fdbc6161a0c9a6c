#include "advise/audit/audit.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "base/file.hpp"
#include "base/text.hpp"
#include "commands/audit_files.hpp"
#include "commands/common.hpp"
#include "commands/look.hpp"
#include "matrix/value.hpp"
#include "report/audit.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

struct AuditOptions {
    std::vector<std::string> paths;
    AuditedMachine machine;
    std::vector<std::string> arguments;
    std::string target, facts, on, look, format, out, fail_on = "rejected";
    bool verbose = false;
};

Result<std::map<std::string, std::string>> arguments_of(const AuditOptions& options) {
    std::map<std::string, std::string> out;
    for (const auto& text : options.arguments) {
        const auto equals = text.find('=');
        if (equals == 0 || equals == std::string::npos)
            return input_failure(fmt::format("invalid --build-arg {}: expected NAME=VALUE", in_quotes(text)));
        out[text.substr(0, equals)] = text.substr(equals + 1);
    }
    return out;
}

// The judgements of all stacks; --look finds facts for each of its own.
struct AllJudged {
    std::vector<std::unique_ptr<Loaded>> looked;
    std::vector<Judgement> judgements;
};

Result<AllJudged> judge(const audit::Report& found, const Facts& facts, const std::string& today,
                        const AuditOptions& options, const World& world) {
    AllJudged out;
    out.judgements.resize(found.stacks.size());
    std::vector<audit::Question> questions;
    std::vector<std::size_t> of;
    for (std::size_t i = 0; i < found.stacks.size(); ++i) {
        const auto& matrix = found.stacks[i].matrix;
        if (matrix.set.empty()) continue;
        of.push_back(i);
        questions.push_back({&matrix, &facts});
        if (options.look.empty()) continue;
        out.looked.push_back(std::unique_ptr<Loaded>(new Loaded{matrix, facts, {}, today, {}}));
        auto& loaded = *out.looked.back();
        CM_TRY(look(options.facts, world, options.look == kLookDeep, loaded));
        questions.back() = {&loaded.matrix, &loaded.facts};
    }
    CM_TRY_ASSIGN(auto answers, audit::judge_stacks(questions, today, [&] { return watched(world); }));
    if (!answers.complete) say_fixes_given_up(world);
    for (std::size_t i = 0; i < of.size(); ++i)
        out.judgements[of[i]] = std::move(answers.judgements[i]);
    return out;
}

Result<ExitCode> perform(const AuditOptions& options, const World& world) {
    CM_TRY_ASSIGN(const auto facts, load_facts(options.facts, world, options.on));
    const auto today = options.on.empty() ? world.today : options.on;
    audit::Options how;
    CM_TRY_ASSIGN(how.machine, options.machine.values(facts, world));
    CM_TRY_ASSIGN(how.arguments, arguments_of(options));
    how.target = options.target;
    how.today = today;
    how.all_packages = !options.look.empty();
    CM_TRY_ASSIGN(const auto audited, read_audited(options.paths));
    const auto found = audited.report(facts, how);

    CM_TRY_ASSIGN(const auto judged, judge(found, facts, today, options, world));
    report::AuditReport report{found,
                               {},
                               {},
                               {},
                               tool_info(facts, today),
                               {world.colour_out, world.columns, world.has_columns, options.verbose},
                               current_folder()};
    std::vector<const audit::Stack*> known;
    for (std::size_t i = 0; i < found.stacks.size(); ++i) {
        report.stacks.push_back({found.stacks[i], judged.judgements[i]});
        const auto& stack = found.stacks[i];
        if (!stack.matrix.set.empty() && !stack.is_source) known.push_back(&stack);
    }
    report.lines = audit::lines_of(found, report.stacks);
    if (!known.empty()) report.matrix = audit::matrix_text(known, "audited");
    warn_of_age(report.tool, world);
    CM_TRY(publish(report, "audit", options.format, options.out,
                   report::format_named(report::audit_formats(), options.format)->write));
    if (!options.out.empty() && !report.matrix.empty()) {
        CM_TRY(file::write(std::filesystem::path(options.out) / "audit.yaml", report.matrix));
    }
    const auto fails = [&](const audit::Line& line) {
        if (options.fail_on == "never") return false;
        if (line.severity == Severity::error) return true;
        if (options.fail_on == "rejected") return false;
        if (line.severity == Severity::unknown) return true;
        return options.fail_on == "degraded" && line.severity == Severity::warning;
    };
    return std::ranges::any_of(report.lines, fails) ? ExitCode::findings : ExitCode::success;
}

}  // namespace

Action add_audit(const Arguments& app) {
    auto options = std::make_shared<AuditOptions>();
    app.add_option("PATH", options->paths, "Files, folders, images with a tag, or - for the standard input")
        .required();
    options->machine.add(app);
    app.add_option("--build-arg", options->arguments, "A value for an ARG of Dockerfiles; may be given again")
        .type_name("NAME=VALUE")
        .one_value_each();
    app.add_option("--target", options->target,
                   "The stage of Dockerfiles that is built, with all that it needs; without it the last one")
        .type_name("STAGE");
    add_facts_folder(app, options->facts);
    add_day(app, options->on);
    add_look(app, options->look);
    add_format(app, options->format, report::names_of(report::audit_formats()));
    add_report_folder(app, options->out);
    app.add_option(
           "--fail-on", options->fail_on,
           "Exit code 1 where a line is an error (rejected), unknown too (unknown), or a warning too (degraded); never: nothing")
        .one_of({"rejected", "unknown", "degraded", "never"})
        .show_default();
    app.add_flag("-v,--verbose", options->verbose,
                 "Each line of the file, the facts behind what is said of it, and notes");
    return [options](const World& world) { return perform(*options, world); };
}

}  // namespace cudamatrix
