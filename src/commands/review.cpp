// review: the quarterly upgrade review of a matrix file.
#include "advise/review/review.hpp"

#include <filesystem>

#include "base/file.hpp"
#include "base/git.hpp"
#include "base/text.hpp"
#include "commands/common.hpp"
#include "commands/diff_sides.hpp"
#include "commands/github_files.hpp"
#include "report/formats.hpp"
#include "report/json_members.hpp"
#include "report/run_document.hpp"

namespace cudamatrix {
namespace {

namespace fs = std::filesystem;

constexpr int kQuarter = 3;  // months

struct ReviewOptions {
    MatrixOptions matrix;
    std::string since;
    std::vector<std::string> runs;
    std::string format;
    std::string out;
    StepSummary step_summary;
};

// What the review compares with, and from which day on it tells what happened.
struct Before {
    std::string name, day;
    std::unique_ptr<LoadedSide> side = {};
    std::optional<Judgement> judgement = {};  // of the same file, on an earlier day
};

// The day of a commit; an input failure where git does not know it.
Result<std::string> day_of_revision(const std::string& revision, const World& world) {
    const auto answer = revision.starts_with("-")
                            ? Result<Outcome>(input_failure("a revision does not begin with -", {}))
                            : Git({}, world.environment, world.cancellation)
                                  .ask({"show", "--no-patch", "--format=%cs", revision + "^{commit}"});
    if (answer.ok() && answer->success() && is_date(text::trim(answer->out)))
        return std::string(text::trim(answer->out));
    return input_failure(
        fmt::format("--since {}: neither a file, a day nor a revision{}", text::printable(revision),
                    answer.ok() ? ": " + why_git_failed(answer) : std::string()),
        "name a cudamatrix.lock, a day (2026-08-27), a revision (HEAD~20) or REV:PATH");
}

// The same file, judged on an earlier day.
Result<Before> on_day(const std::string& day, const Loaded& loaded, const Facts& facts, const World& world) {
    Before out{day, day};
    JudgeOptions then;
    then.today = day;
    then.on_progress = watched(world);
    CM_TRY_ASSIGN(out.judgement, judge_whole(loaded.matrix, facts, then));
    return out;
}

Status check_order(const ReviewOptions& options, const Before& before, const Loaded& loaded) {
    if (before.day <= loaded.today) return Done{};
    const auto day = before.day == options.since ? std::string() : fmt::format(" of {}", before.day);
    return input_failure(
        fmt::format("--since {}{} is after {}", text::printable(options.since), day, loaded.today),
        "name what is earlier, or a later --on");
}

// What was known then: without the folder of --facts.
Facts facts_before(const ReviewOptions& options, const Loaded& loaded) {
    if (options.matrix.facts.empty()) return loaded.facts;
    const auto embedded = Facts::embedded();
    return loaded.lock ? with_configurations(embedded, *loaded.lock) : embedded;
}

Result<Before> before(const ReviewOptions& options, const Loaded& loaded, const World& world) {
    const auto facts = facts_before(options, loaded);
    const auto quarter = months_later(loaded.today, -kQuarter);
    if (options.since.empty() && !(loaded.lock && loaded.lock->verdicts))
        return on_day(quarter, loaded, facts, world);
    if (is_date(options.since)) {
        CM_TRY(check_order(options, {options.since, options.since}, loaded));
        return on_day(options.since, loaded, facts, world);
    }
    Before out{options.since, quarter};
    std::error_code error;
    if (options.since.empty()) {
        out.name = (fs::path(loaded.matrix.path).parent_path() / kLockFile).string();
    } else if (!fs::exists(options.since, error)) {
        const auto colon = options.since.find(':');
        CM_TRY_ASSIGN(out.day, day_of_revision(options.since.substr(0, colon), world));
        if (colon == std::string::npos)
            out.name = fmt::format("{}:./{}", options.since,
                                   fs::relative(loaded.matrix.path, error).generic_string());
    }
    CM_TRY(check_order(options, out, loaded));
    CM_TRY_ASSIGN(out.side, load_side(out.name, facts, {out.day, {}}, world));
    if (out.side->kind == SideKind::matrix || out.side->kind == SideKind::lock) return out;
    return input_failure(
        fmt::format("--since {} is {}", text::printable(out.name), to_string(out.side->kind)),
        "name a cudamatrix.lock, a matrix file, a day or a revision");
}

// `--facts` shows tomorrow's world: its rows beside those that they replace.
diff::Diff changes(const ReviewOptions& options, const Before& before, const Loaded& loaded) {
    diff::Side now{loaded.matrix.path};
    now.cells = diff::judged_verdicts(loaded.matrix, loaded.judgement);
    now.lock = loaded.lock;
    diff::Side then{before.name};
    if (before.side) {
        then = before.side->side;
    } else {
        then.cells = diff::judged_verdicts(loaded.matrix, *before.judgement);
        then.lock = loaded.lock;
    }
    auto out = diff::compare(then, now);
    if (!options.matrix.facts.empty())
        out.facts = diff::compare_facts(Facts::embedded().tables(), loaded.facts.tables());
    return out;
}

Result<ExitCode> perform_review(const ReviewOptions& options, const World& world) {
    CM_TRY(options.step_summary.ready(world));
    CM_TRY_ASSIGN(const auto loaded, load(options.matrix, world));
    CM_TRY_ASSIGN(const auto since, before(options, *loaded, world));
    const auto changed = changes(options, since, *loaded);
    const review::Question question{loaded->matrix, loaded->judgement, loaded->facts, loaded->today,
                                    since.day,      rereader(*loaded), watched(world)};
    CM_TRY_ASSIGN(const auto review, review::review_of(question));
    report::ReviewReport report{loaded->matrix,
                                loaded->judgement,
                                review,
                                since.name,
                                changed,
                                {},
                                tool_info(loaded->facts, loaded->today),
                                text_options(world)};
    for (const auto& file : options.runs) {
        CM_TRY_ASSIGN(const auto text, file::read(file, report::kLargestDocument));
        CM_TRY_ASSIGN(auto run, report::read_run_json(text, file));
        report.runs.push_back(std::move(run));
    }
    CM_TRY(publish(report, "review", options.format, options.out,
                   report::format_named(report::review_formats(), options.format)->write));
    CM_TRY(options.step_summary.append(world, [&] { return report::review_markdown(report); }));
    return ExitCode::success;
}

}  // namespace

Action add_review(const Arguments& app) {
    auto options = std::make_shared<ReviewOptions>();
    app.add_option("MATRIX", options->matrix.matrix, "Matrix file").required();
    add_day(app, options->matrix.on);
    app.add_option("--since", options->since,
                   "What it is compared with: cudamatrix.lock or another matrix file, a revision of git (or "
                   "REV:PATH), or a day, on which the same file is judged. Without it the lock beside the "
                   "matrix file, or else the day three months before")
        .type_name("LOCK|REV|DATE");
    add_facts_folder(app, options->matrix.facts);
    add_look(app, options->matrix.look);
    app.add_option("--run", options->runs, "Reports of runs (run --format json): what was proven")
        .type_name("FILE");
    add_format(app, options->format, report::names_of(report::review_formats()));
    add_report_folder(app, options->out);
    options->step_summary.add(app);
    return [options](const World& world) { return perform_review(*options, world); };
}

}  // namespace cudamatrix
