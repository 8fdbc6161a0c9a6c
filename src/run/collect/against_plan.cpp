#include "run/collect/against_plan.hpp"

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "report/layout.hpp"
#include "run/job/plan_id.hpp"
#include "run/job/suite_run.hpp"

namespace cudamatrix::collect {
namespace {

constexpr std::string_view kFix = "run it again, or collect with the matrix and lock that it was run with";

std::string short_hash(const std::string& hash) {
    return hash.empty() ? "not said" : hash.substr(0, 12);
}

std::string name_of(std::string_view id) {
    return report::clipped_middle(id, 100);
}

bool is_tested(const CellResult& cell) {
    return cell.outcome != CellOutcome::skipped && cell.outcome != CellOutcome::planned;
}

// A result that the lines do not give: nothing of them is shown as if it were of this cell.
void disbelieve(CellResult& cell, std::string why) {
    cell.outcome = CellOutcome::errored;
    cell.proof = Proof::built;
    cell.reason = std::move(why);
    cell.tests.clear();
}

bool ran_on_gpu(const CellResult& cell) {
    return std::ranges::any_of(cell.tests, [](const TestResult& test) {
        return test.part == "gpu" && test.status != TestStatus::skip;
    });
}

}  // namespace

AgainstPlan::AgainstPlan(const RunInput& input, const RunSettings& settings, const job::Plan& plan)
    : input_(input), plan_(plan), planned_{input.matrix.path, plan.report} {
    planned_.report.output.clear();
    for (const auto& image : plan.report.images)
        images_.emplace(image.id, &image);
    for (const auto& result : plan.report.cells) {
        Cell cell{&result, {}, {}};
        if (!result.image.empty()) {
            cell.with_gpu = job::remote_test(input, plan, settings, result, true).plan_id;
            cell.without_gpu = job::remote_test(input, plan, settings, result, false).plan_id;
        }
        cells_.emplace(result.id, std::move(cell));
    }
}

report::ReadRun AgainstPlan::planned() const {
    auto run = planned_;
    // An image that was not chosen is in no report.
    std::erase_if(run.report.images,
                  [this](const ImageResult& image) { return plan_.left_out.contains(image.id); });
    return run;
}

Failure AgainstPlan::refusal(const std::string& file, std::size_t line, const std::string& what) const {
    return Failure{ExitCode::bad_input,
                   {Diagnostic::error(what, {file, line, line == 0 ? 0U : 1U}).with_fix(std::string(kFix))}};
}

Status AgainstPlan::check(const report::ReadRun& run, const ImageResult& image) const {
    const auto found = images_.find(image.id);
    if (found == images_.end())
        return refusal(run.file, 0,
                       fmt::format("image {} is not in the plan of {}", name_of(image.id),
                                   text::printable(input_.matrix.path)));
    for (const auto inputs : {&ImageResult::inputs, &ImageResult::proof_inputs}) {
        const auto &here = image.*inputs, &planned = found->second->*inputs;
        if (here == planned) continue;
        return refusal(
            run.file, 0,
            fmt::format("image {} was made of other files: the inputs of its {} are {}, by the plan "
                        "{}",
                        name_of(image.id), inputs == &ImageResult::inputs ? "runtime" : "proof",
                        short_hash(here), short_hash(planned)));
    }
    return Done{};
}

Status AgainstPlan::check(const report::ReadRun& run, const CellResult& cell,
                          const report::ImagesById& images) const {
    const auto id = name_of(cell.id);
    const auto found = cells_.find(cell.id);
    if (found == cells_.end())
        return refusal(
            run.file, 0,
            fmt::format("cell {} is not in the plan of {}", id, text::printable(input_.matrix.path)));
    const auto& planned = *found->second.result;
    if (cell.verdict != planned.verdict)
        return refusal(run.file, 0,
                       fmt::format("cell {} is {} here, by the plan {}", id, cell.verdict, planned.verdict));
    if (cell.fields != planned.fields || cell.cell != planned.cell)
        return refusal(run.file, 0, fmt::format("cell {} has other fields than in the plan", id));
    if (!is_tested(cell)) return Done{};
    if (cell.image != planned.image)
        return refusal(run.file, 0,
                       fmt::format("cell {} was tested in image {}, by the plan in {}", id,
                                   cell.image.empty() ? "none" : name_of(cell.image),
                                   planned.image.empty() ? "none" : name_of(planned.image)));
    if (images.of(cell) == nullptr)
        return refusal(
            run.file, 0,
            fmt::format("cell {} was tested, and the report does not say what its image {} was made "
                        "of",
                        id, name_of(cell.image)));
    return Done{};
}

Result<report::ReadRun> AgainstPlan::take(report::ReadRun run) const {
    CM_TRY(report::same_origin(planned_, run));
    for (const auto& image : run.report.images)
        CM_TRY(check(run, image));
    const report::ImagesById images(run.report);
    std::vector<CellResult> kept;
    for (auto& cell : run.report.cells) {
        CM_TRY(check(run, cell, images));
        // The plan says as much of it.
        if (cell.outcome == CellOutcome::skipped) continue;
        const auto* image = images.of(cell);
        // The environment kept that machine from answering: another one may have.
        if (image != nullptr && image->not_run && cell.tests.empty()) {
            cell.outcome = CellOutcome::planned;
            cell.proof = Proof::none;
        }
        kept.push_back(std::move(cell));
    }
    run.report.cells = std::move(kept);
    return run;
}

CellResult AgainstPlan::judge(const Cell& cell, const SuiteAttempt& attempt, bool with_gpu) const {
    auto result = *cell.result;
    const auto& image = plan_.images[plan_.image_of.find(result.id)->second];
    const auto& judged = plan_.judged.find(result.cell)->second->cell;
    const auto device = job::cell_device(input_.facts, judged);
    job::SuiteReader reader({attempt.run, attempt.cell, job::required_tests(image)});
    for (const auto& [number, line] : attempt.lines)
        reader.take(line, number);
    // What started the suite is not here to say how it ended: its own word has to agree with its lines.
    const auto exit_code = reader.stated_exit();
    const auto output = std::move(reader).finish(exit_code);
    result.chosen = true;
    result.last.clear();
    result.reason.clear();
    result.proof = Proof::built;
    job::conclude(output, with_gpu, result);
    if (!report::has_passed(result.outcome)) result.proof = Proof::built;
    for (const auto& test : result.tests)
        result.seconds += test.milliseconds / 1000;
    if (ran_on_gpu(result)) {
        if (!with_gpu) {
            disbelieve(result, "its lines are of a GPU, and it was asked to use none");
        } else if (!output.gpu) {
            if (result.outcome == CellOutcome::passed)
                disbelieve(result, "its lines are of a GPU, and they do not say of which");
        } else if (const auto why = job::why_another_gpu(output.gpu_seen, judged, device); !why.empty()) {
            disbelieve(result, "it ran on a GPU that is not the cell's: " + why);
        }
    }
    job::compare_with_rules(image, device.compute, result);
    return result;
}

Result<report::ReadRun> AgainstPlan::take(const std::string& file, const SuiteAttempt& attempt) const {
    const auto line = attempt.lines.front().first;
    const auto found = cells_.find(attempt.cell);
    if (found == cells_.end() || found->second.with_gpu.empty())
        return refusal(
            file, line,
            fmt::format("cell {} {}", name_of(attempt.cell),
                        found == cells_.end() ? "is not in the plan of " + text::printable(input_.matrix.path)
                                              : "has no image in the plan"));
    const auto& cell = found->second;
    const bool with_gpu = attempt.run == cell.with_gpu;
    if (!with_gpu && attempt.run != cell.without_gpu)
        return refusal(
            file, line,
            fmt::format("cell {} was asked as \"{}\", the plan asks it as {} (with a GPU) or {} (without)",
                        name_of(attempt.cell), report::clipped(attempt.run, 40), cell.with_gpu,
                        cell.without_gpu));
    report::ReadRun run{file, {}};
    auto& report = run.report;
    report.matrix = plan_.report.matrix;
    report.version = plan_.report.version;
    report.facts_date = plan_.report.facts_date;
    report.facts_hash = plan_.report.facts_hash;
    report.command = plan_.report.command;
    auto result = judge(cell, attempt, with_gpu);
    result.log = std::filesystem::path(file).filename().string();
    report.gpu = ran_on_gpu(result);
    report.seconds = result.seconds;
    report.cells.push_back(std::move(result));
    return run;
}

}  // namespace cudamatrix::collect
