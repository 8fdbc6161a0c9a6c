
#include <map>
#include <mutex>
#include <optional>
#include <system_error>

#include "base/build_info.hpp"
#include "base/file.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "run/engine/engine.hpp"
#include "run/job/engine_build.hpp"
#include "run/job/folder.hpp"
#include "run/job/job.hpp"
#include "run/prove/rejection_attempt.hpp"

namespace cudamatrix::job {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestAnswer = 4u << 20;  // of one step; more is no answer

// One build, and all the rejections that it decides: two findings can come down to the same attempt.
struct Trial {
    std::string id;
    PlannedAttempt planned;
    std::vector<Artifact> context;
    std::vector<std::size_t> rejections;
};

class Prover {
  public:
    Prover(const RunInput& input, const RunSettings& settings, const Choice& choice)
        : job_(input, settings), choice_(choice) {}

    Result<RejectionReport> run() {
        CM_TRY(check_cells(job_.input, choice_));
        CM_TRY_ASSIGN(const auto taken, FolderLock::take(job_.settings.out));
        CM_TRY(begin());
        if (!trials_.empty() && !job_.interrupted()) {
            if (auto chosen = choose_engine(); !chosen.ok()) {
                if (job_.interrupted()) return finish();
                return chosen.failure();
            }
        }
        if (job_.engine.dialect != nullptr && job_.engine.containers()) {
            if (auto done = try_all(); !done.ok() && !job_.interrupted()) return done.failure();
        }
        return finish();
    }

  private:
    Status begin() {
        report_.matrix = job_.input.matrix.name;
        report_.where = choice_.where_text;
        report_.version = kVersion;
        report_.facts_date = job_.input.facts.date();
        report_.facts_hash = job_.input.facts.hash();
        report_.output = job_.settings.out.string();
        job_.plan.lock = job_.input.lock.value_or(Lock{});
        render_.templates = job_.settings.templates;
        render_.facts_hash = report_.facts_hash;
        render_.facts_date = report_.facts_date;
        std::map<std::string, std::size_t> known;
        for (auto& planned : plan_rejections(job_.input, choice_)) {
            report_.rejections.push_back(std::move(planned.result));
            if (!planned.attempt) continue;
            CM_TRY(add_trial(std::move(*planned.attempt), known));
        }
        return Done{};
    }

    Status add_trial(PlannedAttempt planned, std::map<std::string, std::size_t>& known) {
        CM_TRY_ASSIGN(auto context, attempt_context(job_.input.matrix, planned.image, job_.plan.lock,
                                                    planned.request, job_.settings.run_id, render_));
        Sha256 hash;
        for (const auto& file : context)
            hash.update(fmt::format("{} {}\n", file.path.generic_string(), file.content.size()))
                .update(file.content);
        const auto [place, fresh] = known.try_emplace(hash.hex(), trials_.size());
        if (fresh) {
            trials_.push_back(
                {fmt::format("rejected-{}", trials_.size() + 1), std::move(planned), std::move(context), {}});
        }
        trials_[place->second].rejections.push_back(report_.rejections.size() - 1);
        return Done{};
    }

    Status choose_engine() {
        CM_TRY(job::choose_engine(job_));
        report_.engine = job_.engine.name();
        report_.engine_why = job_.engine.why;
        if (job_.engine.containers()) return Done{};
        for (const auto& trial : trials_)
            leave(trial, "engine host has no throw-away containers: docker and podman attempt it");
        return Done{};
    }

    void leave(const Trial& trial, const std::string& reason) {
        for (const auto index : trial.rejections)
            report_.rejections[index].reason = reason;
    }

    Status try_all() {
        CM_TRY(require_network(job_, "test --prove-rejected"));
        CM_TRY(check());
        for (const auto& trial : trials_)
            ensure_base(trial.planned.image);
        std::optional<Failure> broken;
        std::mutex mutex;
        const std::vector<Node> steps(trials_.size());
        const Schedule schedule{{job_.settings.jobs}, true, job_.settings.cancellation};
        // Fewer than all are tried after an interrupt only, which finish() tells.
        static_cast<void>(run_steps(steps, schedule, [&](std::size_t i) {
            {
                const std::lock_guard guard(mutex);
                if (broken) return false;
            }
            auto tried = try_one(i);
            if (tried.ok()) return true;
            const std::lock_guard guard(mutex);
            if (!broken) broken = tried.failure();
            return false;
        }));
        std::error_code error;
        fs::remove_all(job_.settings.out / "rejected", error);
        if (broken) return std::move(*broken);
        return Done{};
    }

    Status check() {
        std::vector<const Image*> images;
        for (const auto& trial : trials_)
            images.push_back(&trial.planned.image);
        std::vector<DiskDemand> demands{{job_.settings.out, output_bytes_needed(images)}};
        if (job_.settings.disk_bytes != 0) demands.push_back({job_.settings.out, job_.settings.disk_bytes});
        return check_disk(demands);
    }

    // A base that cannot be made leaves the attempts on it inconclusive, and the others to be tried.
    void ensure_base(const Image& image) {
        if (bases_.count(image.base_name()) != 0 || no_base_.count(image.base_name()) != 0 ||
            job_.interrupted())
            return;
        auto tar = ensure_bootstrap(bootstrap_of(image, job_.input.matrix), bootstrap_context(job_));
        if (tar.ok()) {
            bases_.emplace(image.base_name(), std::move(*tar));
        } else if (!tar.failure().diagnostics.empty()) {
            no_base_.emplace(image.base_name(), tar.failure().diagnostics.front().message);
        }
    }

    // Only what concerns every attempt is a Failure: a build that fails makes its rejections inconclusive.
    Status try_one(std::size_t index) {
        const auto& trial = trials_[index];
        const auto start = job_.progress.seconds();
        job_.progress.say(
            fmt::format("[attempt {}/{}] {}", index + 1, trials_.size(), trial.planned.attempt));
        if (const auto none = no_base_.find(trial.planned.image.base_name()); none != no_base_.end()) {
            Rejection result;
            result.outcome = RejectionOutcome::inconclusive;
            result.reason = none->second;
            record(trial, result, {});
            return Done{};
        }
        const auto folder = job_.settings.out / "rejected" / trial.id;
        CM_TRY(write_context(trial, folder / "context"));
        std::error_code error;
        fs::remove_all(folder / "answer", error);
        CM_TRY(file::make_directories(folder / "answer"));
        const auto log = "logs/" + trial.id + ".log";
        auto built = build(trial, folder, log);
        Rejection result;
        if (!built.ok()) {
            const auto& failure = built.failure();
            if (failure.code == ExitCode::interrupted) {
                leave(trial, "interrupted");
                return Done{};
            }
            if (failure.code == ExitCode::environment) return built;
            result.outcome = RejectionOutcome::inconclusive;
            result.reason = "its container could not be made: " + failure.diagnostics.front().message;
        } else {
            const auto answers = read_answers(trial.planned, folder / "answer");
            judge_attempt(trial.planned, answers, result);
            CM_TRY(keep(answers, job_.settings.out / log));
        }
        result.seconds = job_.progress.seconds() - start;
        record(trial, result, log);
        job_.progress.say(fmt::format("[attempt {}/{}] {}{}", index + 1, trials_.size(),
                                      to_string(result.outcome),
                                      result.reason.empty() ? "" : ": " + result.reason));
        return Done{};
    }

    Status write_context(const Trial& trial, const fs::path& folder) {
        for (const auto& file : trial.context) {
            const auto path = folder / file.path;
            CM_TRY(file::make_directories(path.parent_path()));
            CM_TRY(file::write(path, file.content));
        }
        const auto& image = trial.planned.image;
        return file::link_or_copy(bases_.at(image.base_name()).path,
                                  folder / bootstrap_of(image, job_.input.matrix).file);
    }

    Status build(const Trial& trial, const fs::path& folder, const std::string& log) {
        engine::BuildRequest request;
        request.context = folder / "context";
        request.target = "seen";
        request.network = job_.input.matrix.build.network;
        request.ca_bundle = job_.input.matrix.build.ca_bundle;
        request.netrc = job_.input.matrix.build.netrc;
        request.export_to = folder / "answer";
        auto call = build_call(job_, trial.id, log);
        call.tell = [&](std::string_view line) {
            job_.progress.say(fmt::format("  {}: {}", trial.id, line));
        };
        return engine_build(job_.engine, request, call);
    }

    static std::vector<StepAnswer> read_answers(const PlannedAttempt& planned, const fs::path& folder) {
        std::vector<StepAnswer> answers;
        for (const auto& step : planned.request.steps) {
            const auto code = file::read(folder / (step.name + ".code"), 64);
            const auto said = file::read(folder / (step.name + ".txt"), kLargestAnswer);
            StepAnswer answer{step.name, std::nullopt, said.ok() ? *said : std::string()};
            if (code.ok() && said.ok()) answer.exit_code = read_exit_code(*code);
            answers.push_back(std::move(answer));
        }
        return answers;
    }

    // What the steps said is the evidence: it goes into the log, behind the engine's own words.
    static Status keep(const std::vector<StepAnswer>& answers, const fs::path& log) {
        auto content = file::read(log, 64u << 20);
        std::string all = content.ok() ? std::move(*content) : std::string();
        for (const auto& answer : answers) {
            all +=
                fmt::format("\n# step {}: exit code {}\n{}", answer.name,
                            answer.exit_code ? std::to_string(*answer.exit_code) : "unreadable", answer.said);
        }
        CM_TRY(file::write(log, all));
        return Done{};
    }

    void record(const Trial& trial, const Rejection& result, const std::string& log) {
        const std::lock_guard guard(mutex_);
        for (const auto index : trial.rejections) {
            auto& rejection = report_.rejections[index];
            rejection.outcome = result.outcome;
            rejection.seen = result.seen;
            rejection.reason = result.reason;
            rejection.seconds = result.seconds;
            rejection.log = log;
        }
    }

    RejectionReport finish() {
        if (job_.interrupted()) {
            for (const auto& trial : trials_) {
                auto& first = report_.rejections[trial.rejections.front()];
                if (first.outcome == RejectionOutcome::not_attempted) leave(trial, "interrupted");
            }
        }
        report_.seconds = job_.progress.seconds();
        report_.exit_code = static_cast<int>(exit_code());
        return std::move(report_);
    }

    [[nodiscard]] ExitCode exit_code() const {
        if (job_.interrupted()) return ExitCode::interrupted;
        const auto count = [&](RejectionOutcome outcome) { return report_.count(outcome); };
        const auto proven = count(RejectionOutcome::proven);
        const bool open = count(RejectionOutcome::refuted) + count(RejectionOutcome::inconclusive) != 0;
        const bool left = job_.settings.strict && count(RejectionOutcome::not_attempted) != 0;
        return proven == 0 || open || left ? ExitCode::findings : ExitCode::success;
    }

    Job job_;  ///< without images: each attempt has its own
    const Choice& choice_;
    std::mutex mutex_;
    RenderSettings render_;
    RejectionReport report_;
    std::vector<Trial> trials_;
    std::map<std::string, BootstrapTar> bases_;   ///< by Image::base_name
    std::map<std::string, std::string> no_base_;  ///< why one has none
};

}  // namespace
}  // namespace cudamatrix::job

namespace cudamatrix {

Result<RejectionReport> prove_rejections(const RunInput& input, const RunSettings& settings,
                                         const Choice& choice) {
    return job::Prover(input, settings, choice).run();
}

}  // namespace cudamatrix
