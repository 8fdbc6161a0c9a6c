#include "run/job/session.hpp"

#include <algorithm>
#include <set>
#include <system_error>

#include "base/text.hpp"
#include "run/engine/container.hpp"
#include "run/engine/engine.hpp"
#include "run/host/gpu.hpp"
#include "run/job/build.hpp"
#include "run/job/folder_lock.hpp"
#include "run/job/host.hpp"
#include "run/job/leftovers.hpp"
#include "run/job/lock.hpp"
#include "run/job/outcome.hpp"
#include "run/job/plan.hpp"
#include "run/job/progress.hpp"
#include "run/job/test.hpp"

namespace cudamatrix {
namespace {

using job::Plan;

enum class Locking { never, when_needed };

// One command from its plan to its report.
class Session {
  public:
    Session(const RunInput& input, const RunSettings& settings, std::string_view command)
        : input_(input), settings_(settings), command_(command), ticker_(settings.progress) {}

    Result<LockReport> lock(const LockChoice& choice) {
        CM_TRY(begin());
        if (plan_.images.empty()) return nothing_to_do();
        CM_TRY_ASSIGN(const auto scope, choice.update ? job::LockScope::of(choice.what, plan_.images)
                                                      : job::LockScope::missing());
        CM_TRY_ASSIGN(const auto work, job::plan_lock(input_, settings_, scope, true, ticker_, plan_));
        LockReport report{{}, work.findings, ExitCode::success};
        if (!work.findings.empty()) report.code = ExitCode::findings;
        std::set<std::string> said;  // what keeps several images back is said once
        const auto say = [&](const Failure& why) {
            report.code = worse(report.code, why.code);
            for (const auto& diagnostic : why.diagnostics) {
                if (said.insert(diagnostic.message).second) report.findings.push_back(diagnostic);
            }
        };
        for (const auto& [reference, why] : work.unreached)
            say(why);
        if (!choice.update && work.images.empty() && report.findings.empty()) {
            report.changes.push_back(
                fmt::format("{}: already pinned", text::count(plan_.images.size(), "image")));
            return report;
        }
        if (!work.images.empty()) {
            CM_TRY(choose_engine());
            if (!engine_.containers()) {
                return environment_failure(
                    "engine host cannot pin: the packages are resolved inside the images' own base",
                    "--engine docker");
            }
            CM_TRY(job::require_network(input_, "lock"));
        }
        CM_TRY_ASSIGN(auto outcome, job::carry_out(input_, settings_, work, engine_, ticker_, plan_));
        report.changes = std::move(outcome.changes);
        for (const auto& [id, why] : outcome.unresolved)
            say(why);
        if (report.changes.empty() && report.findings.empty()) report.changes.emplace_back("nothing moved");
        return report;
    }

    Result<RunReport> render() {
        CM_TRY(begin());
        if (settings_.locked) {
            CM_TRY(job::require_locked(input_, plan_));
        }
        CM_TRY(write_files());
        for (auto& cell : plan_.report.cells) {
            if (cell.outcome == CellOutcome::planned) cell.proof = Proof::rendered;
        }
        return finish();
    }

    Result<Compared> compare() {
        std::error_code error;
        if (std::filesystem::exists(settings_.out, error)) {
            CM_TRY(take_folder());
        }
        CM_TRY(make_plan());
        if (settings_.locked) {
            CM_TRY(job::require_locked(input_, plan_));
        }
        CM_TRY_ASSIGN(auto drift, compare_artifacts(settings_.out, plan_.rendering.artifacts));
        return Compared{std::move(drift), plan_.rendering.artifacts.size()};
    }

    Result<RunReport> build(Locking locking) {
        return finish_after([&]() -> Status {
            CM_TRY(prepare(locking));
            return do_build();
        });
    }

    Result<RunReport> test() {
        return finish_after([&]() -> Status {
            CM_TRY(prepare_to_test());
            return do_test();
        });
    }

    Result<RunReport> all() {
        return finish_after([&]() -> Status {
            CM_TRY(prepare(Locking::when_needed));
            CM_TRY(do_build());
            return do_test();
        });
    }

  private:
    Status begin() {
        CM_TRY(take_folder());
        CM_TRY(recover_output(settings_.out));
        return make_plan();
    }

    Status take_folder() {
        CM_TRY_ASSIGN(auto taken, job::FolderLock::take(settings_.out));
        folder_.emplace(std::move(taken));
        return Done{};
    }

    Status make_plan() {
        CM_TRY_ASSIGN(plan_, job::make_plan(input_, settings_, command_));
        return Done{};
    }

    [[nodiscard]] bool interrupted() const {
        return settings_.cancellation != nullptr && settings_.cancellation->requested();
    }

    static Failure nothing_to_do() {
        return Failure{ExitCode::findings,
                       {Diagnostic::error("no cell of the matrix is accepted and can be rendered: there is "
                                          "nothing to pin")
                            .with_fix("cudamatrix check says why")}};
    }

    Status choose_engine() {
        CM_TRY_ASSIGN(engine_,
                      engine::choose(settings_.engine, settings_.environment, settings_.cancellation));
        plan_.report.engine = engine_.name();
        plan_.report.engine_why = engine_.why;
        ticker_.say(fmt::format("engine {}: {}", engine_.name(), engine_.why));
        find_gpus();
        return Done{};
    }

    void find_gpus() {
        auto found = engine::find_gpus(settings_.environment, settings_.cancellation);
        if (!found.note.empty()) ticker_.say("no GPU: " + found.note);
        if (!found.list.empty() && !engine_.gpu_runtime) {
            ticker_.say(
                "a GPU is here, but the engine cannot hand it to a container: install "
                "nvidia-container-toolkit");
            found.list.clear();
        }
        for (const auto& gpu : found.list) {
            ticker_.say(fmt::format("GPU {}: {}, compute capability {}, driver {}", gpu.index, gpu.name,
                                    gpu.compute, gpu.driver));
        }
        gpus_ = std::move(found.list);
        plan_.report.gpu = !gpus_.empty();
    }

    Status write_files() {
        CM_TRY_ASSIGN(const auto written,
                      write_artifacts(settings_.out, plan_.rendering.artifacts, {settings_.prune, {}}));
        const auto removed = written.removed == 0 ? "" : fmt::format(", {} removed", written.removed);
        ticker_.say(fmt::format("rendered {} into {}: {} written, {} unchanged{}",
                                text::count(plan_.images.size(), "image"), settings_.out.string(),
                                written.changed, written.unchanged, removed));
        tell_orphans(written.orphans);
        return settings_.prune ? prune_leftovers(written.pruned) : Status(Done{});
    }

    Status prune_leftovers(const std::vector<std::string>& pruned) {
        std::vector<std::string> ids;
        for (const auto& image : plan_.images)
            ids.push_back(image.id);
        CM_TRY_ASSIGN(const auto gone, job::remove_leftovers(settings_.out, ids, pruned));
        if (gone.removed != 0)
            ticker_.say(fmt::format("{} that builds left for images of earlier renders removed",
                                    text::count(gone.removed, "file")));
        for (const auto& name : gone.kept)
            ticker_.say(fmt::format("{} stays: it was changed by hand", name));
        return Done{};
    }

    void tell_orphans(const std::vector<std::string>& orphans) {
        constexpr std::size_t most = 20;
        if (orphans.empty()) return;
        ticker_.say(fmt::format("{} of earlier renders {} to no cell any more; render --prune removes {}:",
                                text::count(orphans.size(), "file"),
                                orphans.size() == 1 ? "belongs" : "belong",
                                orphans.size() == 1 ? "it" : "them"));
        for (std::size_t i = 0; i < std::min(most, orphans.size()); ++i)
            ticker_.say("  " + orphans[i]);
        if (orphans.size() > most) ticker_.say(fmt::format("  and {} more", orphans.size() - most));
    }

    // Plan, engine, pins, files: what build and run have in common. Without an attempted cell there is
    // nothing to choose.
    Status prepare(Locking locking) {
        CM_TRY(begin());
        if (plan_.images.empty()) return Done{};
        CM_TRY(choose_engine());
        if (!engine_.containers()) {
            job::keep_host_cells(engine_, plan_);
            return write_files();
        }
        if (settings_.locked) {
            CM_TRY(job::require_locked(input_, plan_));
        }
        auto open = job::unpinned(plan_);
        if (!open.empty() && locking == Locking::never) {
            CM_TRY(job::try_missing_bases(settings_, ticker_, plan_));
            std::erase_if(open, [this](const std::string& id) { return plan_.not_run.contains(id); });
        }
        if (!open.empty() && locking == Locking::never) {
            return input_failure(fmt::format("{} does not cover {}", job::lock_path(input_.matrix).string(),
                                             text::join(open, ", ")),
                                 "cudamatrix lock " + input_.matrix.path);
        }
        if (!open.empty()) {
            ticker_.say(fmt::format("{}: pinning {}", job::lock_path(input_.matrix).string(),
                                    text::count(open.size(), "image")));
            CM_TRY(pin_missing());
        }
        return write_files();
    }

    Status pin_missing() {
        CM_TRY(job::require_network(input_, "lock"));
        CM_TRY_ASSIGN(const auto work,
                      job::plan_lock(input_, settings_, job::LockScope::missing(), false, ticker_, plan_));
        CM_TRY_ASSIGN(auto outcome, job::carry_out(input_, settings_, work, engine_, ticker_, plan_));
        if (!work.findings.empty()) return Failure{ExitCode::findings, work.findings};
        for (auto& [id, why] : outcome.unresolved)
            plan_.not_run.emplace(id, std::move(why));
        for (const auto& image : plan_.images) {
            if (plan_.lock.covers(image)) continue;
            for (const auto& reference : image.references()) {
                if (const auto why = work.unreached.find(reference); why != work.unreached.end())
                    plan_.not_run.emplace(image.id, why->second);
            }
        }
        return Done{};
    }

    Status prepare_to_test() {
        CM_TRY(begin());
        if (plan_.images.empty()) return Done{};
        CM_TRY(choose_engine());
        if (!engine_.containers()) job::keep_host_cells(engine_, plan_);
        return Done{};
    }

    Status do_build() {
        if (plan_.images.empty()) return Done{};
        return engine_.containers() ? job::build_plan(input_, settings_, engine_, ticker_, plan_)
                                    : job::build_on_host(settings_, engine_, ticker_, plan_);
    }

    Status do_test() {
        if (plan_.images.empty() || interrupted()) return Done{};
        return engine_.containers() ? job::test_plan(input_, settings_, engine_, gpus_, ticker_, plan_)
                                    : job::test_on_host(input_, settings_, gpus_, ticker_, plan_);
    }

    // An interrupt still gives the report of what was done; whatever else ends a command early is its failure.
    Result<RunReport> finish_after(const std::function<Status()>& work) {
        if (const auto done = work(); !done.ok()) {
            if (done.failure().code != ExitCode::interrupted && !interrupted()) return done.failure();
            for (auto& cell : plan_.report.cells) {
                if (cell.outcome == CellOutcome::planned && cell.reason.empty()) cell.reason = "interrupted";
            }
        }
        return finish();
    }

    RunReport finish() {
        if (interrupted() && engine_.dialect != nullptr && engine_.containers())
            engine::sweep(engine_, settings_.run_id);
        plan_.report.seconds = ticker_.seconds();
        plan_.report.exit_code = static_cast<int>(job::exit_code_of(plan_.report, settings_));
        return std::move(plan_.report);
    }

    const RunInput& input_;
    const RunSettings& settings_;
    std::string_view command_;
    job::Ticker ticker_;
    std::optional<job::FolderLock> folder_;
    Plan plan_;
    engine::Engine engine_;
    std::vector<engine::Gpu> gpus_;
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

Result<RunReport> test_images(const RunInput& input, const RunSettings& settings) {
    return Session(input, settings, "test").test();
}

Result<RunReport> run_all(const RunInput& input, const RunSettings& settings) {
    return Session(input, settings, "run").all();
}

}  // namespace cudamatrix
