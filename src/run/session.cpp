#include "run/session.hpp"

#include "base/text.hpp"
#include "engine/container.hpp"
#include "engine/engine.hpp"
#include "engine/gpu.hpp"
#include "render/output_folder.hpp"
#include "run/build.hpp"
#include "run/folder_lock.hpp"
#include "run/host.hpp"
#include "run/lock.hpp"
#include "run/outcome.hpp"
#include "run/plan.hpp"
#include "run/progress.hpp"
#include "run/test.hpp"

namespace cudamatrix {
namespace {

using job::Plan;

enum class Locking { never, when_needed };

// One command from its plan to its report.
class Session {
  public:
    Session(const RunInput& input, const RunSettings& settings, std::string_view command)
        : input_(input), settings_(settings), command_(command), ticker_(settings.progress) {}

    Result<std::vector<std::string>> lock(bool update) {
        if (auto begun = begin(); !begun.ok()) return begun.failure();
        if (plan_.images.empty()) return nothing_to_do();
        if (!update && job::unpinned(plan_).empty()) {
            return std::vector<std::string>{
                fmt::format("{}: already pinned", text::count(plan_.images.size(), "image"))};
        }
        if (auto chosen = choose_engine(); !chosen.ok()) return chosen.failure();
        if (!engine_.containers()) {
            return environment_failure(
                "engine host cannot pin: the packages are resolved inside the images' own base",
                "--engine docker");
        }
        auto lines = job::resolve_lock(input_, settings_, update, engine_, ticker_, plan_);
        if (lines.ok() && lines->empty()) lines->push_back("nothing moved");
        return lines;
    }

    Result<RunReport> render() {
        if (auto begun = begin(); !begun.ok()) return begun.failure();
        if (auto written = write_files(); !written.ok()) return written.failure();
        for (auto& cell : plan_.report.cells) {
            if (cell.outcome == CellOutcome::planned) cell.proof = Proof::rendered;
        }
        return finish();
    }

    Result<RunReport> build(Locking locking) {
        if (auto ready = prepare(locking); !ready.ok()) return ended_early(ready.failure());
        if (auto built = do_build(); !built.ok()) return ended_early(built.failure());
        return finish();
    }

    Result<RunReport> test() {
        if (auto ready = prepare_to_test(); !ready.ok()) return ended_early(ready.failure());
        if (auto tested = do_test(); !tested.ok()) return ended_early(tested.failure());
        return finish();
    }

    Result<RunReport> all() {
        if (auto ready = prepare(Locking::when_needed); !ready.ok()) return ended_early(ready.failure());
        if (auto built = do_build(); !built.ok()) return ended_early(built.failure());
        if (auto tested = do_test(); !tested.ok()) return ended_early(tested.failure());
        return finish();
    }

  private:
    Status begin() {
        auto taken = job::FolderLock::take(settings_.out);
        if (!taken.ok()) return taken.failure();
        folder_.emplace(std::move(*taken));
        auto plan = job::make_plan(input_, settings_, command_);
        if (!plan.ok()) return plan.failure();
        plan_ = std::move(*plan);
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
        auto chosen = engine::choose(settings_.engine, settings_.environment, settings_.cancellation);
        if (!chosen.ok()) return chosen.failure();
        engine_ = std::move(*chosen);
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
        const auto written = write_artifacts(settings_.out, plan_.rendering.artifacts);
        if (!written.ok()) return written.failure();
        ticker_.say(fmt::format("rendered {} into {}: {} written, {} unchanged",
                                text::count(plan_.images.size(), "image"), settings_.out.string(),
                                written->changed, written->unchanged));
        return Done{};
    }

    // Plan, engine, pins, files: what build and run have in common. Without an attempted cell there is
    // nothing to choose.
    Status prepare(Locking locking) {
        if (auto begun = begin(); !begun.ok()) return begun;
        if (plan_.images.empty()) return Done{};
        if (auto chosen = choose_engine(); !chosen.ok()) return chosen;
        if (!engine_.containers()) {
            job::keep_host_cells(engine_, plan_);
            return write_files();
        }
        const auto open = job::unpinned(plan_);
        if (!open.empty() && locking == Locking::never) {
            return input_failure(fmt::format("{} does not cover {}", job::lock_path(input_.matrix).string(),
                                             text::join(open, ", ")),
                                 "cudamatrix lock " + input_.matrix.path);
        }
        if (!open.empty()) {
            ticker_.say(fmt::format("{}: pinning {}", job::lock_path(input_.matrix).string(),
                                    text::count(open.size(), "image")));
            const auto lines = job::resolve_lock(input_, settings_, false, engine_, ticker_, plan_);
            if (!lines.ok()) return lines.failure();
        }
        return write_files();
    }

    Status prepare_to_test() {
        if (auto begun = begin(); !begun.ok()) return begun;
        if (plan_.images.empty()) return Done{};
        if (auto chosen = choose_engine(); !chosen.ok()) return chosen;
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

    // An interrupt still gives the report of what was done; everything else that ends a command early is its
    // failure.
    Result<RunReport> ended_early(const Failure& failure) {
        if (failure.code != ExitCode::interrupted && !interrupted()) return failure;
        for (auto& cell : plan_.report.cells) {
            if (cell.outcome == CellOutcome::planned && cell.reason.empty()) cell.reason = "interrupted";
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

Result<std::vector<std::string>> make_lock(const RunInput& input, const RunSettings& settings, bool update) {
    return Session(input, settings, "lock").lock(update);
}

Result<RunReport> render_images(const RunInput& input, const RunSettings& settings) {
    return Session(input, settings, "render").render();
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
