#include "run/job/job.hpp"

#include <algorithm>
#include <mutex>
#include <thread>

#include "base/build_info.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "run/engine/engine.hpp"
#include "run/job/clean.hpp"
#include "run/job/journal.hpp"
#include "run/job/schedule.hpp"
#include "run/job/suite_run.hpp"

namespace cudamatrix::job {
namespace {

constexpr const char* kSuiteProgram = "/opt/cudamatrix/bin/suite";
constexpr unsigned kMostCpus = 4;  // of one container: others work beside it

// One cell to be proved.
struct Attempt {
    CellResult* cell = nullptr;
    const Image* image = nullptr;
    std::string proof_id;  ///< of the image; empty: it is not there
    std::vector<std::string> arguments;
    CellDevice device;
    GpuChoice gpu;
    std::string key;
};

std::string key_of(const Attempt& attempt, const std::vector<engine::Gpu>& gpus) {
    Sha256 hash;
    hash.update(kVersion).update("\n").update(attempt.proof_id).update("\n");
    for (const auto& argument : attempt.arguments)
        hash.update(argument).update("\n");
    if (attempt.gpu.index) {
        for (const auto& gpu : gpus) {
            if (gpu.index == *attempt.gpu.index) hash.update(gpu.name + "\n" + gpu.driver + "\n");
        }
    }
    return hash.hex();
}

class Prover {
  public:
    explicit Prover(Job& job) : job_(job) {}

    Status run() {
        CM_TRY_ASSIGN(auto journal, Journal::open(job_.settings.out / "journal.jsonl"));
        CM_TRY(collect(journal));
        // Tests on one GPU never share it.
        const unsigned jobs = job_.gpus.empty() ? job_.settings.jobs : 1;
        const Schedule schedule{jobs, job_.settings.keep_going, job_.settings.cancellation};
        const auto started =
            run_jobs(work_.size(), schedule, [&](std::size_t i) { return prove(work_[i], i + 1, journal); });
        for (std::size_t i = started; i < work_.size(); ++i) {
            work_[i].cell->reason = job_.interrupted() ? "interrupted" : "not tested: an earlier cell failed";
        }
        if (failure_) return *failure_;
        return Done{};
    }

  private:
    // What is to be run; cells without a current image, and those that an earlier run proved, are settled
    // here.
    Status collect(const Journal& journal) {
        std::vector<Present> present;
        for (std::size_t i = 0; i < job_.plan.images.size(); ++i) {
            auto& there = present.emplace_back();
            if (!job_.plan.is_chosen(job_.plan.images[i])) continue;
            CM_TRY_ASSIGN(there, find_images(job_, job_.plan.rendering.images[i]));
        }
        std::size_t reused = 0;
        for (auto& cell : job_.plan.report.cells) {
            if (cell.outcome != CellOutcome::planned) continue;
            const auto index = job_.plan.image_of.find(cell.id)->second;
            if (!present[index].current) {
                cell.outcome = CellOutcome::errored;
                cell.reason = fmt::format("its image {} is {}: cudamatrix build makes it", cell.image,
                                          present[index].proof.id.empty() ? "not built" : "of other inputs");
                continue;
            }
            record(present[index], job_.plan.report.images[index]);
            cell.proof = Proof::built;
            auto attempt = attempt_for(cell, index, present[index].proof.id);
            if (take_earlier(journal, attempt)) {
                ++reused;
            } else {
                work_.push_back(std::move(attempt));
            }
        }
        if (reused > 0)
            job_.progress.say(
                fmt::format("{}: proved by an earlier run, reused", text::count(reused, "cell")));
        return Done{};
    }

    Attempt attempt_for(CellResult& cell, std::size_t index, const std::string& proof_id) {
        Attempt attempt;
        attempt.cell = &cell;
        attempt.image = &job_.plan.images[index];
        attempt.proof_id = proof_id;
        const auto& judged = *job_.plan.judged.find(cell.cell)->second;
        attempt.device = cell_device(job_.input.facts, judged.cell);
        attempt.gpu = choose_gpu(job_.gpus, judged.cell, attempt.device);
        attempt.arguments =
            suite_arguments(*attempt.image, cell.id, attempt.device, attempt.gpu.index.has_value());
        for (auto& argument : image_arguments(*attempt.image))
            attempt.arguments.push_back(std::move(argument));
        for (auto& argument : level_arguments(job_.settings.level, job_.settings.soak_minutes))
            attempt.arguments.push_back(std::move(argument));
        attempt.key = key_of(attempt, job_.gpus);
        return attempt;
    }

    bool take_earlier(const Journal& journal, const Attempt& attempt) {
        const auto* earlier = journal.find(attempt.cell->id, attempt.key);
        if (earlier == nullptr) return false;
        if (earlier->outcome != CellOutcome::passed && earlier->outcome != CellOutcome::passed_without_gpu)
            return false;
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

    bool prove(Attempt& attempt, std::size_t number, Journal& journal) {
        if (failed()) return false;
        auto& cell = *attempt.cell;
        job_.progress.say(fmt::format("[test {}/{}] {} in {}{}", number, work_.size(), cell.id, cell.image,
                                      attempt.gpu.index ? fmt::format(", GPU {}", *attempt.gpu.index) : ""));
        const auto start = job_.progress.seconds();
        SuiteCall call{{job_.settings.run_id, cell.id, required_tests(*attempt.image)},
                       attempt.gpu.index.has_value(),
                       attempt.gpu.why_not,
                       job_.settings.out,
                       [&](const OnLine& on_line) {
                           engine::RunLimits limits;
                           limits.time = job_.settings.test_limit;
                           return engine::run_container(job_.engine, request_for(attempt), limits,
                                                        job_.settings.cancellation, on_line);
                       }};
        auto status = run_suite(call, cell);
        cell.seconds = job_.progress.seconds() - start;
        if (!status.ok()) return stop(status.failure());
        if (cell.outcome == CellOutcome::planned) return false;  // interrupted
        compare_with_rules(*attempt.image, attempt.device.compute, cell);
        if (auto noted = journal.append(cell, attempt.key); !noted.ok()) return stop(noted.failure());
        job_.progress.say(fmt::format("[test {}/{}] {}: {}{} ({:.0f} s)", number, work_.size(), cell.id,
                                      report::tests_text(cell), cell.reason.empty() ? "" : ": " + cell.reason,
                                      cell.seconds));
        return cell.outcome == CellOutcome::passed || cell.outcome == CellOutcome::passed_without_gpu;
    }

    engine::RunRequest request_for(const Attempt& attempt) const {
        const bool torch = !attempt.image->torch.empty();
        engine::RunRequest request;
        request.image = attempt.proof_id;
        request.name = engine::container_name(job_.settings.run_id, attempt.cell->id);
        request.run_id = job_.settings.run_id;
        request.folder = folder_mark(job_.settings.out);
        request.entrypoint = kSuiteProgram;
        request.arguments = attempt.arguments;
        request.arguments.insert(request.arguments.end(), {"--run", job_.settings.run_id});
        request.environment = {{"HOME", "/tmp"}};
        request.gpu = attempt.gpu.index;
        request.shm_mib = torch ? 256 : 64;
        if (attempt.device.shm_mib != 0) request.shm_mib = attempt.device.shm_mib;
        request.memory_mib = torch ? 8192 : 4096;
        // An engine refuses more than its machine has, and of another machine nobody knows here how many
        // these are.
        if (!job_.engine.remote)
            request.cpus = std::clamp(std::thread::hardware_concurrency(), 1U, kMostCpus);
        return request;
    }

    // Something that would hit every further cell as well.
    bool failed() {
        const std::lock_guard lock(mutex_);
        return failure_.has_value();
    }
    bool stop(const Failure& failure) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = failure;
        return false;
    }

    Job& job_;
    std::vector<Attempt> work_;
    std::mutex mutex_;
    std::optional<Failure> failure_;
};

}  // namespace

Status test_plan(Job& job) {
    return Prover(job).run();
}

}  // namespace cudamatrix::job
