#include "run/collect/collect.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/file.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "report/json_members.hpp"
#include "report/run_document.hpp"
#include "run/collect/against_plan.hpp"
#include "run/collect/find_files.hpp"
#include "run/collect/suite_log.hpp"

namespace cudamatrix::collect {
namespace {

constexpr std::size_t kShown = 20;

// What one file gave.
struct Answers {
    std::vector<report::ReadRun> runs;
    std::size_t foreign = 0, first_foreign = 0;
};

Failure neither(const std::string& file) {
    return Failure{
        ExitCode::bad_input,
        {Diagnostic::error("neither a report of cudamatrix nor a log with lines of its suite", {file, 1, 1})
             .with_fix("give report.json of an output folder, or what the suite printed")}};
}

Result<Answers> read(const FoundFile& file, const AgainstPlan& plan) {
    CM_TRY_ASSIGN(const auto text, file::read(file.path, report::kLargestDocument));
    Answers answers;
    if (file.is_report) {
        CM_TRY_ASSIGN(auto report, report::read_run_json(text, file.path));
        CM_TRY_ASSIGN(auto run, plan.take({file.path, std::move(report)}));
        answers.runs.push_back(std::move(run));
        return answers;
    }
    const auto log = read_suite_log(text);
    if (log.attempts.empty() && file.is_named) return neither(file.path);
    for (const auto& attempt : log.attempts) {
        CM_TRY_ASSIGN(auto run, plan.take(file.path, attempt));
        answers.runs.push_back(std::move(run));
    }
    answers.foreign = log.foreign;
    answers.first_foreign = log.first_foreign;
    return answers;
}

// Counts of what is not in the report, each with the first place.
class LeftOut {
  public:
    void add(const FoundFile& file, const Answers& answers) {
        if (file.is_report) return;
        if (answers.runs.empty()) {
            if (files_++ == 0) first_file_ = file.path;
        } else if (answers.foreign != 0) {
            if (logs_++ == 0) first_line_ = {file.path, answers.first_foreign, 1};
            lines_ += answers.foreign;
        }
    }
    [[nodiscard]] std::vector<Diagnostic> notes() const {
        std::vector<Diagnostic> notes;
        if (lines_ != 0)
            notes.push_back(Diagnostic::note(
                fmt::format("{} of {} {} not of the suite: left out", text::count(lines_, "line"),
                            text::count(logs_, "log"), lines_ == 1 ? "is" : "are"),
                first_line_));
        if (files_ != 0)
            notes.push_back(Diagnostic::note(
                fmt::format("{} no line of the suite: left out",
                            files_ == 1
                                ? "this file holds"
                                : fmt::format("this and {} hold", text::count(files_ - 1, "more file"))),
                {first_file_, 0, 0}));
        return notes;
    }

  private:
    std::size_t files_ = 0, logs_ = 0, lines_ = 0;
    std::string first_file_;
    Location first_line_;
};

}  // namespace

Result<Collected> collect(const RunInput& input, const RunSettings& settings, const job::Plan& plan,
                          const std::vector<std::string>& paths) {
    CM_TRY_ASSIGN(const auto files, find_files(paths));
    const AgainstPlan against(input, settings, plan);
    std::vector<Answers> answers(files.size());
    CM_TRY(parallel_for(files.size(), 1, [&](std::size_t begin, std::size_t end) -> Status {
        for (auto at = begin; at < end; ++at) {
            if (interrupted(settings.cancellation)) return Failure{ExitCode::interrupted, {}};
            CM_TRY_ASSIGN(answers[at], read(files[at], against));
        }
        return Done{};
    }));
    Collected collected;
    LeftOut left_out;
    std::vector<report::ReadRun> runs{against.planned()};
    for (std::size_t i = 0; i < files.size(); ++i) {
        left_out.add(files[i], answers[i]);
        if (files[i].is_report) ++collected.reports;
        if (!files[i].is_report && !answers[i].runs.empty()) ++collected.logs;
        for (auto& run : answers[i].runs)
            runs.push_back(std::move(run));
    }
    collected.notes = left_out.notes();
    if (runs.size() == 1) {
        return Failure{ExitCode::bad_input,
                       {Diagnostic::error("no report.json and no line of the suite", {paths.front(), 0, 0})
                            .with_fix("name the folder to which the results of the machines were copied")}};
    }
    CM_TRY_ASSIGN(auto merged, report::merge_runs(std::move(runs), {settings.strict, settings.require_gpu,
                                                                    settings.accept_static}));
    std::ranges::move(merged.notes, std::back_inserter(collected.notes));
    collected.report = std::move(merged.report);
    collected.unanswered = unanswered(plan.report, collected.report);
    return collected;
}

std::vector<std::string> unanswered(const RunReport& plan, const RunReport& merged) {
    std::unordered_map<std::string_view, const CellResult*> answers;
    for (const auto& cell : merged.cells)
        answers.emplace(cell.id, &cell);
    const report::ImagesById images(merged);
    std::vector<std::string> out;
    for (const auto& cell : plan.cells) {
        if (cell.outcome != CellOutcome::planned) continue;
        const auto found = answers.find(cell.id);
        if (found != answers.end()) {
            const auto& answer = *found->second;
            const auto* image = images.of(answer);
            const bool is_given_up = image != nullptr && image->not_run && answer.tests.empty();
            if (answer.outcome != CellOutcome::skipped && answer.outcome != CellOutcome::planned &&
                !is_given_up)
                continue;
        }
        out.push_back(cell.id);
    }
    return out;
}

std::string unanswered_text(const std::vector<std::string>& cells) {
    if (cells.empty()) return {};
    auto out = fmt::format("no machine answered: {}\n", text::count(cells.size(), "cell"));
    for (std::size_t i = 0; i < std::min(cells.size(), kShown); ++i)
        out += "  " + text::printable(cells[i]) + "\n";
    if (cells.size() > kShown)
        out += fmt::format("  and {}\n", text::count(cells.size() - kShown, "more cell"));
    return out;
}

}  // namespace cudamatrix::collect
