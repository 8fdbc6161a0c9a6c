// Stages that several builds share, each a step before them.
#include <algorithm>

#include "base/text.hpp"
#include "run/job/folder.hpp"
#include "run/job/lock.hpp"
#include "run/job/work.hpp"

namespace cudamatrix::job {

// Builds that run side by side would each make what they share, but on an engine that sees it.
void BuildSteps::add_shared_stages() {
    if (job_.settings.jobs < 2 || job_.engine.dialect->shares_running_steps) return;
    for (const auto index : images_) {
        for (const auto target : targets_of(index))
            targets_.push_back(target);
    }
    for (auto& stage : shared_stages(build_files(job_.plan, targets_))) {
        const auto first = targets_[stage.files.front()];
        // An image and its proof are made one after the other anyway.
        const auto is_of_first = [&](std::size_t file) { return targets_[file].index == first.index; };
        if (std::ranges::all_of(stage.files, is_of_first)) continue;
        const auto name = fmt::format("{} of {}", stage.name, text::count(stage.files.size(), "build"));
        Step step{StepKind::stage, name, base_of(first.index), Work::kBuilds, {}, {}};
        step.work = [this, stage](const Tell& tell) { return build_stage(stage, tell); };
        step.command = [this, stage]() -> std::optional<Command> {
            return build_command(job_.engine, request_for(stage));
        };
        const auto number = work_.add(std::move(step));
        // It is built in the context of the first, which nobody else may fill meanwhile.
        contexts_[first.index];
        for (const bool proof : {false, true})
            stages_before_[{first.index, proof}].push_back(number);
        for (const auto file : stage.files) {
            auto& before = stages_before_[targets_[file]];
            if (std::ranges::count(before, number) == 0) before.push_back(number);
        }
    }
}

StepResult BuildSteps::build_stage(const SharedStage& stage, const Tell& tell) {
    const auto first = targets_[stage.files.front()];
    const auto start = job_.progress.seconds();
    const auto log = fmt::format("logs/build-stage-{}-{}.log", stage.name, stage.key.substr(0, 12));
    auto call = build_call(job_, fmt::format("shared stage {}", stage.name), log);
    call.tell = tell;
    const std::lock_guard alone(contexts_.at(first.index));
    auto status = fill_context(job_, first, base_path(first.index));
    if (status.ok()) status = engine_build(job_.engine, request_for(stage), call);
    if (status.ok()) return {true, fmt::format("built in {:.0f} s", job_.progress.seconds() - start)};
    StepResult failed{false, "interrupted", {}};
    for (const auto file : stage.files) {
        auto& result = job_.plan.report.images[targets_[file].index];
        result.log = log;
        failed = fail(result, status.failure());
    }
    return failed;
}

engine::BuildRequest BuildSteps::request_for(const SharedStage& stage) const {
    auto request = request_for(targets_[stage.files.front()]);
    request.target = stage.name;
    request.reference.clear();
    request.labels = {{std::string(kInputsLabel), stage.key}};
    return request;
}

}  // namespace cudamatrix::job
