// The contexts of builds: what they hold besides the rendered files.
#include <map>

#include "base/file.hpp"
#include "base/text.hpp"
#include "render/output/output_folder.hpp"
#include "run/job/folder.hpp"
#include "run/job/job.hpp"
#include "run/job/lock.hpp"

namespace cudamatrix::job {
namespace {

namespace fs = std::filesystem;

// The list of these files lies in the context, too, so that those of an older suite go.
Status write_suite(const Job& job, std::size_t index) {
    std::vector<Artifact> files;
    for (const auto& [path, content] : job.plan.rendering.suite) {
        if (is_in_context(path, job.plan.images[index])) files.push_back({fs::path("suite") / path, content});
    }
    CM_TRY(write_artifacts(job.settings.out / job.plan.rendering.images[index].folder, files));
    return Done{};
}

// The tar of a bootstrapped base; nothing where a registry has it.
Result<fs::path> base_tar(Job& job, const Image& image) {
    const auto* bootstrap = job.plan.bootstrap(image);
    if (!image.references().empty() || bootstrap == nullptr) return fs::path();
    CM_TRY_ASSIGN(const auto tar, ensure_bootstrap(*bootstrap, bootstrap_context(job)));
    const auto* pinned = job.plan.lock.base(image);
    if (pinned != nullptr && pinned->sha256 != tar.sha256)
        return base_moved(image.base_name(), pinned->sha256, tar.sha256, job.input.matrix);
    return tar.path;
}

}  // namespace

// The kernels lie in the output folder once: a context gets them when its proof is built.
Status fill_context(const Job& job, BuildTarget target, const fs::path& base) {
    const auto& image = job.plan.images[target.index];
    const auto folder = job.settings.out / job.plan.rendering.images[target.index].folder;
    if (image.references().empty()) {
        CM_TRY(file::link_or_copy(base, folder / job.plan.bootstrap(image)->file));
    }
    CM_TRY(stage_copies(job.plan.copies[target.index], folder));
    return target.proof ? write_suite(job, target.index) : Status(Done{});
}

Status fill_contexts(Job& job) {
    std::map<std::string, fs::path> bases;  // by Image::base_name
    for (std::size_t i = 0; i < job.plan.images.size(); ++i) {
        const auto& image = job.plan.images[i];
        if (!job.plan.is_chosen(image)) continue;
        if (job.interrupted()) return Failure{ExitCode::interrupted, {}};
        auto base = bases.find(image.base_name());
        if (base == bases.end()) {
            CM_TRY_ASSIGN(auto tar, base_tar(job, image));
            base = bases.emplace(image.base_name(), std::move(tar)).first;
        }
        CM_TRY(fill_context(job, {i, true}, base->second));
        job.progress.say(fmt::format("{}: its context is ready", image.id));
    }
    return Done{};
}

}  // namespace cudamatrix::job
