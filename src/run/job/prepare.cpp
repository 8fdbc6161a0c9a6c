// What build, test and run do before their steps: the engine with its GPUs, the rendered files.
#include <algorithm>

#include "base/text.hpp"
#include "run/engine/engine.hpp"
#include "run/job/folder.hpp"
#include "run/job/job.hpp"

namespace cudamatrix::job {
namespace {

void find_gpus(Job& job) {
    if (job.engine.remote) {
        job.progress.say("no GPU: the engine is on another machine, whose GPUs are not known here");
        return;
    }
    auto found = engine::find_gpus(job.settings.environment, job.settings.cancellation);
    if (!found.note.empty()) job.progress.say("no GPU: " + found.note);
    if (!found.list.empty() && !job.engine.gpu_runtime) {
        const bool by_cdi = job.engine.dialect->gpus == engine::GpuForm::cdi;
        job.progress.say(
            fmt::format("a GPU is here, but the engine cannot hand it to a container: install "
                        "nvidia-container-toolkit{}",
                        by_cdi ? " and run nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml" : ""));
        found.list.clear();
    }
    for (const auto& gpu : found.list) {
        job.progress.say(fmt::format("GPU {}: {}, compute capability {}, driver {}", gpu.index, gpu.name,
                                     gpu.compute, gpu.driver));
    }
    job.gpus = std::move(found.list);
    job.plan.report.gpu = !job.gpus.empty();
}

Status prune_leftovers(Job& job, const std::vector<std::string>& pruned) {
    std::vector<std::string> ids;
    for (const auto& image : job.plan.images)
        ids.push_back(image.id);
    CM_TRY_ASSIGN(const auto gone, remove_leftovers(job.settings.out, ids, pruned));
    if (gone.removed != 0)
        job.progress.say(fmt::format("{} that builds left for images of earlier renders removed",
                                     text::count(gone.removed, "file")));
    for (const auto& name : gone.kept)
        job.progress.say(fmt::format("{} stays: it was changed by hand", name));
    return Done{};
}

void tell_orphans(Job& job, const std::vector<std::string>& orphans) {
    constexpr std::size_t most = 20;
    if (orphans.empty()) return;
    job.progress.say(fmt::format("{} of earlier renders {} to no cell any more; render --prune removes {}:",
                                 text::count(orphans.size(), "file"),
                                 orphans.size() == 1 ? "belongs" : "belong",
                                 orphans.size() == 1 ? "it" : "them"));
    for (std::size_t i = 0; i < std::min(most, orphans.size()); ++i)
        job.progress.say("  " + orphans[i]);
    if (orphans.size() > most) job.progress.say(fmt::format("  and {} more", orphans.size() - most));
}

}  // namespace

Status take_engine(Job& job) {
    CM_TRY(choose_engine(job));
    job.plan.report.engine = job.engine.name();
    job.plan.report.engine_why = job.engine.why;
    find_gpus(job);
    return Done{};
}

std::set<std::string> leave_alone(Plan& plan) {
    std::set<std::string> folders;
    for (const auto& image : plan.rendering.images) {
        if (plan.left_out.contains(image.id)) folders.insert(image.folder.generic_string());
    }
    std::erase_if(plan.rendering.artifacts, [&](const Artifact& artifact) {
        return folders.contains(artifact.path.parent_path().generic_string());
    });
    return folders;
}

Status write_files(Job& job) {
    auto left_alone = leave_alone(job.plan);
    CM_TRY_ASSIGN(const auto written, write_artifacts(job.settings.out, job.plan.rendering.artifacts,
                                                      {job.settings.prune, {}, std::move(left_alone)}));
    const auto removed = written.removed == 0 ? "" : fmt::format(", {} removed", written.removed);
    job.progress.say(fmt::format("rendered {} into {}: {} written, {} unchanged{}",
                                 text::count(job.plan.chosen_images(), "image"), job.settings.out.string(),
                                 written.changed, written.unchanged, removed));
    tell_orphans(job, written.orphans);
    return job.settings.prune ? prune_leftovers(job, written.pruned) : Status(Done{});
}

}  // namespace cudamatrix::job
