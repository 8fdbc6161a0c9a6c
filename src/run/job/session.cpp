#include "run/job/session.hpp"

#include <algorithm>
#include <set>
#include <system_error>

#include "base/text.hpp"
#include "run/engine/engine.hpp"
#include "run/job/folder.hpp"
#include "run/job/job.hpp"
#include "run/job/lock.hpp"
#include "run/job/work.hpp"

namespace cudamatrix {
namespace {

enum class Locking { never, when_needed };

// One command from its plan to its report.
class Session {
  public:
    Session(const RunInput& input, const RunSettings& settings, std::string_view command)
        : job_(input, settings), command_(command) {}

    Result<LockReport> lock(const LockChoice& choice) {
        CM_TRY(begin());
        const auto named = job::named_images(job_);
        CM_TRY_ASSIGN(const auto scope, choice.update
                                            ? job::LockScope::of(choice.what, job_.plan.images, named)
                                            : job::LockScope::missing());
        CM_TRY_ASSIGN(const auto work, job::plan_lock(job_, scope, true));
        LockReport report{{}, work.findings, ExitCode::success};
        // Verdicts alone are no pins.
        const bool is_pinned =
            job_.plan.chosen_images() != 0 || std::ranges::any_of(named, [&](const std::string& name) {
                return work.lock.configuration(name) != nullptr;
            });
        if (!is_pinned) report.findings.push_back(nothing_to_pin());
        if (!report.findings.empty()) report.code = ExitCode::findings;
        std::set<std::string> said;  // what keeps several images back is said once
        const auto say = [&](const Failure& why) {
            report.code = worse(report.code, why.code);
            for (const auto& diagnostic : why.diagnostics) {
                if (said.insert(diagnostic.message).second) report.findings.push_back(diagnostic);
            }
        };
        for (const auto& [reference, why] : work.unreached)
            say(why);
        const bool is_recorded = work.lock.verdicts == job_.plan.lock.verdicts &&
                                 work.lock.configurations == job_.plan.lock.configurations;
        if (!choice.update && work.images.empty() && report.findings.empty() && is_recorded) {
            const auto images = job_.plan.chosen_images();
            const auto pinned = images == 0 ? named.size() : images;
            report.changes.push_back(fmt::format("{}: already pinned", text::count(pinned, "image")));
            return report;
        }
        if (!work.images.empty()) {
            CM_TRY(job::take_engine(job_));
            if (!job_.engine.containers()) {
                return environment_failure(
                    "engine host cannot pin: the packages are resolved inside the images' own base",
                    "--engine docker, or --engine podman");
            }
            CM_TRY(job::require_network(job_, "lock"));
        }
        CM_TRY_ASSIGN(auto outcome, job::carry_out(job_, work));
        report.changes = std::move(outcome.changes);
        for (const auto& [id, why] : outcome.unresolved)
            say(why);
        if (report.changes.empty() && report.findings.empty()) report.changes.emplace_back("nothing moved");
        return report;
    }

    Result<RunReport> render() {
        CM_TRY(begin());
        if (job_.settings.locked) {
            CM_TRY(job::require_locked(job_));
        }
        CM_TRY(job::write_files(job_));
        for (auto& cell : job_.plan.report.cells) {
            if (cell.outcome == CellOutcome::planned) cell.proof = Proof::rendered;
        }
        return finish();
    }

    Result<Compared> compare() {
        std::error_code error;
        if (std::filesystem::exists(job_.settings.out, error)) {
            CM_TRY(take_folder());
        }
        CM_TRY(make_plan());
        if (job_.settings.locked) {
            CM_TRY(job::require_locked(job_));
        }
        const auto left_alone = job::leave_alone(job_.plan);
        const auto& artifacts = job_.plan.rendering.artifacts;
        CM_TRY_ASSIGN(auto drift, compare_artifacts(job_.settings.out, artifacts, left_alone));
        return Compared{std::move(drift), artifacts.size()};
    }

    Result<RunReport> build(Locking locking) {
        return finish_after([&]() -> Status {
            CM_TRY(prepare(locking));
            return carry_out({.build = true});
        });
    }

    // Everything of a build but the builder.
    Result<RunReport> contexts() {
        return finish_after([&]() -> Status {
            CM_TRY(begin());
            if (const auto open = job::unpinned(job_.plan); !open.empty()) return not_covered(open);
            CM_TRY(job::write_files(job_));
            CM_TRY(job::fill_contexts(job_));
            for (auto& cell : job_.plan.report.cells) {
                if (cell.outcome == CellOutcome::planned) cell.proof = Proof::rendered;
            }
            return Done{};
        });
    }

    Result<RunReport> test() {
        return finish_after([&]() -> Status {
            CM_TRY(prepare_to_test());
            return carry_out({.test = true});
        });
    }

    Result<RunReport> all() {
        return finish_after([&]() -> Status {
            CM_TRY(prepare(Locking::when_needed));
            return carry_out({.build = true, .test = true});
        });
    }

    Result<report::SbomReport> sboms() {
        CM_TRY(begin());
        if (job_.plan.chosen_images() == 0) return report::SbomReport{};
        CM_TRY(job::choose_engine(job_));
        if (!job_.engine.containers())
            return input_failure("engine host has no images", "--engine docker, podman or buildah");
        return job::write_sboms(job_, job_.settings.today + "T00:00:00Z");
    }

    Result<report::Rehearsal> rehearse(job::Goals goals) {
        CM_TRY(make_plan());
        const auto& plan = job_.plan.report;
        report::Rehearsal out{
            plan.matrix, plan.command, "no engine", {}, {plan.version, plan.facts_date, plan.facts_hash}};
        if (job_.plan.chosen_images() == 0) return out;
        CM_TRY(job::take_engine(job_));
        if (!job_.engine.containers()) {
            return input_failure("--dry-run: engine host starts no container, its compiler runs here",
                                 "--engine docker, podman or buildah");
        }
        out.engine = job_.engine.name();
        if (const auto open = job::unpinned(job_.plan); goals.build && !open.empty()) {
            if (job_.settings.locked) {
                CM_TRY(job::require_locked(job_));
            }
            const auto& file = job_.input.matrix.path;
            out.steps.push_back({"lock", text::join(open, " "), {}, {"cudamatrix", "lock", file}, {}});
        }
        CM_TRY_ASSIGN(auto steps, job::rehearse(job_, goals));
        for (auto& step : steps)
            out.steps.push_back(std::move(step));
        return out;
    }

  private:
    // What is refused leaves not even a folder.
    Status begin() {
        CM_TRY(make_plan());
        CM_TRY(take_folder());
        return recover_output(job_.settings.out);
    }

    Status take_folder() {
        CM_TRY_ASSIGN(auto taken, job::FolderLock::take(job_.settings.out));
        folder_.emplace(std::move(taken));
        return Done{};
    }

    Status make_plan() {
        CM_TRY_ASSIGN(job_.plan, job::make_plan(job_.input, job_.settings, command_));
        return Done{};
    }

    // With what `check` does not say: why cells that it accepts are not rendered.
    [[nodiscard]] Diagnostic nothing_to_pin() const {
        auto problem =
            Diagnostic::error(
                "no cell of the matrix is accepted and can be rendered: there is nothing to pin, only the "
                "verdicts are recorded")
                .with_fix("cudamatrix check says why");
        constexpr std::size_t most = 3;
        std::set<std::string> reasons;
        for (const auto& cell : job_.plan.report.cells) {
            const bool good =
                cell.verdict == to_string(Verdict::accepted) || cell.verdict == to_string(Verdict::degraded);
            if (good && reasons.size() < most && reasons.insert(cell.reason).second)
                problem = std::move(problem).with_note(fmt::format("{} {}", cell.cell, cell.reason));
        }
        return problem;
    }

    // Plan, engine, pins, files: what build and run have in common. Without an attempted cell there is
    // nothing to choose.
    Status prepare(Locking locking) {
        CM_TRY(begin());
        if (job_.plan.chosen_images() == 0) return Done{};
        CM_TRY(job::take_engine(job_));
        if (!job_.engine.containers()) {
            job::keep_host_cells(job_);
            return job::write_files(job_);
        }
        if (job_.settings.locked) {
            CM_TRY(job::require_locked(job_));
        }
        auto open = job::unpinned(job_.plan);
        if (!open.empty() && locking == Locking::never) {
            CM_TRY(job::try_missing_bases(job_));
            std::erase_if(open, [this](const std::string& id) { return job_.plan.not_run.contains(id); });
        }
        if (!open.empty() && locking == Locking::never) return not_covered(open);
        if (!open.empty()) {
            job_.progress.say(fmt::format("{}: pinning {}", job::lock_path(job_.input.matrix).string(),
                                          text::count(open.size(), "image")));
            CM_TRY(pin_missing());
        }
        return job::write_files(job_);
    }

    [[nodiscard]] Failure not_covered(const std::vector<std::string>& ids) const {
        auto problem =
            Diagnostic::error(fmt::format("{} does not cover {}", job::lock_path(job_.input.matrix).string(),
                                          text::join(ids, ", ")))
                .with_fix("cudamatrix lock " + job_.input.matrix.path);
        for (const auto& image : job_.plan.images) {
            const auto missing = missing_pins(image, job_.plan.lock);
            if (!missing.empty() && std::ranges::count(ids, image.id) != 0 && job_.input.lock)
                problem = std::move(problem).with_note(
                    fmt::format("{}: it has {}", image.id, text::join(missing, ", and ")));
        }
        return Failure{ExitCode::bad_input, {std::move(problem)}};
    }

    Status pin_missing() {
        CM_TRY(job::require_network(job_, "lock"));
        CM_TRY_ASSIGN(const auto work, job::plan_lock(job_, job::LockScope::missing(), false));
        CM_TRY_ASSIGN(auto outcome, job::carry_out(job_, work));
        if (!work.findings.empty()) return Failure{ExitCode::findings, work.findings};
        for (auto& [id, why] : outcome.unresolved)
            job_.plan.not_run.emplace(id, std::move(why));
        for (const auto& image : job_.plan.images) {
            if (job_.plan.lock.covers(image)) continue;
            for (const auto& reference : image.references()) {
                if (const auto why = work.unreached.find(reference); why != work.unreached.end())
                    job_.plan.not_run.emplace(image.id, why->second);
            }
        }
        return Done{};
    }

    Status prepare_to_test() {
        CM_TRY(begin());
        if (job_.plan.chosen_images() == 0) return Done{};
        CM_TRY(job::take_engine(job_));
        if (!job_.engine.containers()) job::keep_host_cells(job_);
        return Done{};
    }

    Status carry_out(job::Goals goals) {
        if (job_.plan.chosen_images() == 0) return Done{};
        if (job_.engine.containers()) return job::carry_out(job_, goals);
        if (goals.build) {
            CM_TRY(job::build_on_host(job_));
        }
        return goals.test && !job_.interrupted() ? job::test_on_host(job_) : Status(Done{});
    }

    // An interrupt still gives the report of what was done; whatever else ends a command early is its
    // failure.
    Result<RunReport> finish_after(const std::function<Status()>& work) {
        if (const auto done = work(); !done.ok()) {
            if (done.failure().code != ExitCode::interrupted && !job_.interrupted()) return done.failure();
            for (auto& cell : job_.plan.report.cells) {
                if (cell.outcome == CellOutcome::planned && cell.reason.empty()) cell.reason = "interrupted";
            }
        }
        return finish();
    }

    RunReport finish() {
        if (job_.interrupted() && job_.engine.dialect != nullptr && job_.engine.containers())
            engine::sweep(job_.engine, job_.settings.run_id);
        std::erase_if(job_.plan.report.images,
                      [this](const ImageResult& image) { return job_.plan.left_out.contains(image.id); });
        job_.plan.report.seconds = job_.progress.seconds();
        job_.plan.report.exit_code = static_cast<int>(job::exit_code_of(job_.plan.report, job_.settings));
        return std::move(job_.plan.report);
    }

    job::Job job_;
    std::string_view command_;
    std::optional<job::FolderLock> folder_;
};

}  // namespace

Result<LockReport> make_lock(const RunInput& input, const RunSettings& settings, const LockChoice& choice) {
    return Session(input, settings, "lock").lock(choice);
}

Result<RunReport> render_images(const RunInput& input, const RunSettings& settings) {
    return Session(input, settings, "render").render();
}

Result<Compared> compare_render(const RunInput& input, const RunSettings& settings) {
    return Session(input, settings, "render").compare();
}

Result<RunReport> build_images(const RunInput& input, const RunSettings& settings) {
    return Session(input, settings, "build").build(Locking::never);
}

Result<RunReport> prepare_builds(const RunInput& input, const RunSettings& settings) {
    return Session(input, settings, "render").contexts();
}

Result<RunReport> test_images(const RunInput& input, const RunSettings& settings) {
    return Session(input, settings, "test").test();
}

Result<report::Rehearsal> rehearse(const RunInput& input, const RunSettings& settings,
                                   std::string_view command) {
    return Session(input, settings, command)
        .rehearse({.build = command != "test", .test = command != "build"});
}

Result<report::SbomReport> make_sboms(const RunInput& input, const RunSettings& settings) {
    return Session(input, settings, "sbom").sboms();
}

Result<RunReport> run_all(const RunInput& input, const RunSettings& settings) {
    return Session(input, settings, "run").all();
}

}  // namespace cudamatrix
