#include <algorithm>
#include <thread>

#include "base/build_info.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "run/engine/engine.hpp"
#include "run/job/clean.hpp"
#include "run/job/plan_id.hpp"
#include "run/job/suite_run.hpp"
#include "run/job/work.hpp"

namespace cudamatrix::job {
namespace {

constexpr unsigned kMostCpus = 4;          // of one container: others work beside it
constexpr std::size_t kFailingTests = 20;  // failing tests of a cell that are told at once

std::vector<std::string> failing_tests(const CellResult& cell) {
    std::vector<std::string> lines;
    for (const auto& test : cell.tests) {
        if (!report::is_failure(test.status) || lines.size() == kFailingTests) continue;
        lines.push_back(fmt::format("{} {}: {}", test.id, to_string(test.status), test.summary));
    }
    return lines;
}

}  // namespace

// One cell to be proved.
struct TestSteps::Attempt {
    CellResult* cell = nullptr;
    std::size_t index = 0;  ///< of its image in the plan
    const Image* image = nullptr;
    std::vector<std::string> arguments;
    CellDevice device;
    GpuChoice gpu;
};

// Cells without a current image, and those that an earlier run proved, are settled here.
Status TestSteps::add() {
    std::size_t reused = 0;
    for (auto& cell : job_.plan.report.cells) {
        if (cell.outcome != CellOutcome::planned) continue;
        const auto index = job_.plan.image_of.find(cell.id)->second;
        auto& image = job_.plan.report.images[index];
        if (!image.error.empty()) continue;
        const auto attempt = attempt_for(cell, index);
        if (const auto proof = work_.proof_steps.find(index); proof != work_.proof_steps.end()) {
            add_step(attempt, proof->second);
            continue;
        }
        if (!work_.present(index).looked_at) {
            CM_TRY(work_.look_at(index));
        }
        const auto& there = work_.present(index);
        if (!there.is_current()) {
            cell.outcome = CellOutcome::errored;
            cell.reason = fmt::format("its image {} is {}: cudamatrix build makes it", cell.image,
                                      there.proof.info.id.empty() ? "not built" : "of other inputs");
            continue;
        }
        record(there, image);
        cell.proof = Proof::built;
        if (take_earlier(attempt))
            ++reused;
        else
            add_step(attempt, std::nullopt);
    }
    if (reused > 0)
        job_.progress.say(fmt::format("{}: proved by an earlier run, reused", text::count(reused, "cell")));
    return Done{};
}

void TestSteps::add_step(const Attempt& attempt, std::optional<std::size_t> after) {
    Step step{StepKind::test, attempt.cell->id, {}, Work::kTests, {}, {}};
    if (after) step.after.push_back(*after);
    if (attempt.gpu.index) {
        const auto found = std::ranges::find(job_.gpus, *attempt.gpu.index, &engine::Gpu::index);
        step.pool = Work::kGpu + static_cast<std::size_t>(found - job_.gpus.begin());
    }
    step.work = [this, attempt](const Tell& tell) { return prove(attempt, tell); };
    step.command = [this, attempt]() -> std::optional<Command> {
        return job_.engine.command(job_.engine.dialect->run(request_for(attempt)));
    };
    work_.add(std::move(step));
}

TestSteps::Attempt TestSteps::attempt_for(CellResult& cell, std::size_t index) {
    Attempt attempt;
    attempt.cell = &cell;
    attempt.index = index;
    attempt.image = &job_.plan.images[index];
    const auto& judged = *job_.plan.judged.find(cell.cell)->second;
    attempt.device = cell_device(job_.input.facts, judged.cell);
    attempt.gpu = choose_gpu(job_.gpus, judged.cell, attempt.device);
    if (attempt.gpu.index) {
        // Of several that fit, the one that has the fewest.
        auto by_load = job_.gpus;
        std::ranges::stable_sort(by_load, {},
                                 [this](const engine::Gpu& gpu) { return tests_on_[gpu.index]; });
        attempt.gpu = choose_gpu(by_load, judged.cell, attempt.device);
        ++tests_on_[*attempt.gpu.index];
    }
    attempt.arguments =
        cell_arguments(*attempt.image, cell.id, attempt.device, attempt.gpu.index.has_value(), job_.settings);
    return attempt;
}

std::string TestSteps::key_of(const Attempt& attempt) const {
    Sha256 hash;
    hash.update(kVersion).update("\n").update(work_.present(attempt.index).proof.info.id).update("\n");
    for (const auto& argument : attempt.arguments)
        hash.update(argument).update("\n");
    if (attempt.gpu.index) {
        for (const auto& gpu : job_.gpus) {
            if (gpu.index == *attempt.gpu.index) hash.update(gpu.name + "\n" + gpu.driver + "\n");
        }
    }
    return hash.hex();
}

bool TestSteps::take_earlier(const Attempt& attempt) const {
    const auto* earlier = work_.journal.find(attempt.cell->id, key_of(attempt));
    if (earlier == nullptr || !report::has_passed(earlier->outcome)) return false;
    auto& cell = *attempt.cell;
    cell.outcome = earlier->outcome;
    cell.proof = earlier->proof;
    cell.reason = earlier->reason;
    cell.log = earlier->log;
    cell.seconds = earlier->seconds;
    cell.tests = earlier->tests;
    compare_with_rules(*attempt.image, attempt.device.compute, cell);
    return true;
}

StepResult TestSteps::prove(const Attempt& attempt, const Tell& tell) {
    auto& cell = *attempt.cell;
    cell.proof = Proof::built;
    if (take_earlier(attempt)) return {report::has_passed(cell.outcome), "proved by an earlier run, reused"};
    if (attempt.gpu.index) tell(fmt::format("on GPU {}", *attempt.gpu.index));
    const auto start = job_.progress.seconds();
    const SuiteCall call{{job_.settings.run_id, cell.id, required_tests(*attempt.image)},
                         attempt.gpu.index.has_value(),
                         attempt.gpu.why_not,
                         job_.settings.out,
                         [&](const OnLine& on_line) {
                             engine::RunLimits limits;
                             limits.time = job_.settings.test_limit;
                             return engine::run_container(job_.engine, request_for(attempt), limits,
                                                          job_.settings.cancellation, on_line);
                         }};
    const auto status = run_suite(call, cell);
    cell.seconds = job_.progress.seconds() - start;
    if (!status.ok()) return work_.stop(status.failure());
    if (cell.outcome == CellOutcome::planned) return {false, "interrupted"};
    compare_with_rules(*attempt.image, attempt.device.compute, cell);
    if (const auto noted = work_.journal.append(cell, key_of(attempt)); !noted.ok())
        return work_.stop(noted.failure());
    return {report::has_passed(cell.outcome),
            fmt::format("{}{} ({:.0f} s)", report::tests_text(cell),
                        cell.reason.empty() ? "" : ": " + cell.reason, cell.seconds),
            failing_tests(cell)};
}

engine::RunRequest TestSteps::request_for(const Attempt& attempt) const {
    // By its id it is the image that was looked at, whatever its tag is by then.
    const auto& id = work_.present(attempt.index).proof.info.id;
    engine::RunRequest request;
    request.image = id.empty() ? job_.plan.rendering.images[attempt.index].proof_reference : id;
    request.name = engine::container_name(job_.settings.run_id, attempt.cell->id);
    request.run_id = job_.settings.run_id;
    request.folder = folder_mark(job_.settings.out);
    request.entrypoint = kSuiteProgram;
    request.arguments = attempt.arguments;
    request.arguments.insert(request.arguments.end(), {"--run", job_.settings.run_id});
    request.environment = {{"HOME", "/tmp"}};
    request.gpu = attempt.gpu.index;
    const auto needs = needs_of(*attempt.image, attempt.device);
    request.shm_mib = needs.shm_mib;
    request.memory_mib = needs.memory_mib;
    // An engine refuses more than its machine has, and of another machine nobody knows here how many
    // these are.
    if (!job_.engine.remote) request.cpus = std::clamp(std::thread::hardware_concurrency(), 1U, kMostCpus);
    return request;
}

void TestSteps::settle() {
    for (auto& cell : job_.plan.report.cells) {
        if (cell.outcome == CellOutcome::planned && cell.reason.empty())
            cell.reason = job_.interrupted() ? "interrupted" : "not tested: an earlier step failed";
    }
}

}  // namespace cudamatrix::job
