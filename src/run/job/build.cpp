#include "run/job/job.hpp"

#include <map>
#include <set>

#include "base/file.hpp"
#include "base/text.hpp"
#include "render/output/output_folder.hpp"
#include "run/job/engine_build.hpp"
#include "run/job/folder.hpp"
#include "run/job/lock.hpp"
#include "run/job/schedule.hpp"

namespace cudamatrix::job {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRevisionLabel = "org.opencontainers.image.revision";

bool is_of(const std::optional<engine::ImageInfo>& info, const std::string& inputs) {
    if (!info) return false;
    const auto label = info->labels.find(std::string(engine::kInputsLabel));
    return label != info->labels.end() && label->second == inputs;
}

class Builder {
  public:
    explicit Builder(Job& job) : job_(job) {}

    Status run() {
        CM_TRY(find_work());
        CM_TRY(prepare());
        CM_TRY(link_reused());
        const Schedule schedule{job_.settings.jobs, job_.settings.keep_going, job_.settings.cancellation};
        const auto started = run_jobs(work_.size(), schedule, [this](std::size_t i) { return build(i); });
        for (std::size_t i = started; i < work_.size(); ++i) {
            if (!job_.interrupted())
                job_.plan.report.images[work_[i]].error = "not built: an earlier image failed";
        }
        mark_cells();
        return Done{};
    }

  private:
    // Images that are not current; the others are done.
    Status find_work() {
        for (std::size_t i = 0; i < job_.plan.images.size(); ++i) {
            if (!job_.plan.is_chosen(job_.plan.images[i])) continue;
            if (const auto why = job_.plan.not_run.find(job_.plan.images[i].id);
                why != job_.plan.not_run.end()) {
                not_run(i, why->second);
                continue;
            }
            CM_TRY_ASSIGN(const auto present, find_images(job_, job_.plan.rendering.images[i]));
            if (present.current) {
                job_.plan.report.images[i].reused = true;
                record(present, job_.plan.report.images[i]);
                job_.progress.say(fmt::format("{}: up to date, reused", job_.plan.images[i].id));
                continue;
            }
            if (present.image_current) images_there_.insert(i);
            work_.push_back(i);
        }
        return Done{};
    }

    // Everything that would fail for all of them: asked before anything is started.
    Status prepare() {
        if (work_.empty()) return Done{};
        CM_TRY(require_network(job_, "build"));
        CM_TRY(check());
        std::map<std::string, Failure> no_base;  // by Image::base_name: one attempt is enough
        std::vector<std::size_t> buildable;
        for (const auto i : work_) {
            const auto& image = job_.plan.images[i];
            if (image.references().empty() && no_base.contains(image.base_name())) {
                not_run(i, no_base.at(image.base_name()));
                continue;
            }
            auto made = make_base(image);
            if (!made.ok() && made.failure().code != ExitCode::environment) return made;
            if (made.ok()) {
                buildable.push_back(i);
            } else {
                no_base.emplace(image.base_name(), made.failure());
                not_run(i, made.failure());
            }
        }
        work_ = std::move(buildable);
        find_revision();
        return Done{};
    }

    void not_run(std::size_t index, const Failure& why) {
        auto& result = job_.plan.report.images[index];
        result.not_run = why.code == ExitCode::environment;
        result.error = "not run: ";
        if (!why.diagnostics.empty()) result.error += why.diagnostics.front().message;
        job_.progress.say(fmt::format("{}: {}", result.id, result.error));
    }

    // The engine pulls what a registry has, by the digest in the Dockerfile.
    Status make_base(const Image& image) {
        if (!image.references().empty() || bases_.count(image.base_name()) != 0) return Done{};
        const auto* bootstrap = job_.plan.bootstrap(image);
        if (bootstrap == nullptr) return environment_failure("no base is known for " + image.base_name());
        CM_TRY_ASSIGN(auto tar, ensure_bootstrap(*bootstrap, bootstrap_context(job_)));
        const auto* pinned = job_.plan.lock.base(image);
        if (pinned != nullptr && pinned->sha256 != tar.sha256)
            return base_moved(image.base_name(), pinned->sha256, tar.sha256, job_.input.matrix);
        bases_.emplace(image.base_name(), std::move(tar));
        return Done{};
    }

    // Known only now: a rendered file that named the commit which it is in would never be up to date.
    void find_revision() {
        const auto& matrix = job_.input.matrix;
        const fs::path file(matrix.path);
        std::vector<std::string> files{file.filename().string(), std::string(kLockFile)};
        for (const auto& entry : matrix.deployment.images) {
            if (!entry.requirements.text.empty()) files.push_back(entry.requirements.text);
            for (const auto& copy : entry.copy)
                files.push_back(copy.from);
        }
        const auto folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
        auto found = source_revision(folder, files, job_.settings.environment, job_.settings.cancellation);
        revision_ = std::move(found.id);
        if (revision_.empty()) job_.progress.say("images will name no source revision: " + found.why_none);
    }

    Status check() {
        std::vector<const Image*> images;
        for (const auto i : work_)
            images.push_back(&job_.plan.images[i]);
        const auto bytes =
            job_.settings.disk_bytes != 0 ? job_.settings.disk_bytes : engine_bytes_needed(images);
        std::vector<DiskDemand> demands{{job_.settings.out, output_bytes_needed(images)}};
        if (const auto folder = engine::storage(job_.engine, job_.settings.cancellation)) {
            demands.push_back({*folder, bytes});
        } else {
            job_.progress.say("free disk of the engine is not checked: its folder is not on this machine");
        }
        return check_disk(demands);
    }

    bool build(std::size_t number) {
        const auto index = work_[number];
        auto& result = job_.plan.report.images[index];
        const auto& rendered = job_.plan.rendering.images[index];
        const auto start = job_.progress.seconds();
        job_.progress.say(fmt::format("[build {}/{}] {}", number + 1, work_.size(), result.id));
        auto status = link_base(index);
        if (status.ok()) status = write_suite(index);
        if (status.ok()) status = stage(index);
        if (status.ok() && images_there_.count(index) == 0) status = build_image(index, false);
        if (status.ok()) status = build_image(index, true);
        result.seconds = job_.progress.seconds() - start;
        if (status.ok()) {
            const auto present = find_images(job_, rendered);
            if (!present.ok()) {
                status = present.failure();
            } else if (!present->current) {
                status = environment_failure(result.id + ": the engine does not hold what it built");
            } else {
                record(*present, result);
            }
        }
        if (!status.ok()) return fail(result, status.failure());
        job_.progress.say(fmt::format("[build {}/{}] {} built in {:.0f} s, {}", number + 1, work_.size(),
                                      result.id, result.seconds, text::human_bytes(result.runtime_bytes)));
        return true;
    }

    bool fail(ImageResult& result, const Failure& failure) {
        if (failure.code == ExitCode::interrupted || failure.diagnostics.empty()) return false;
        result.error = failure.diagnostics.front().message;
        job_.progress.say(fmt::format("FAILED {}", result.error));
        return false;
    }

    // The context of an image that needs no build stays one that `docker build` by hand takes, as far as its
    // base is there: no reason to bootstrap.
    Status link_reused() {
        for (std::size_t i = 0; i < job_.plan.images.size(); ++i) {
            if (!job_.plan.report.images[i].reused) continue;
            CM_TRY(stage(i));
            const auto* bootstrap = job_.plan.bootstrap(job_.plan.images[i]);
            if (bootstrap == nullptr) continue;
            const auto tar = job_.settings.out / "bootstrap" / bootstrap->file;
            std::error_code gone;
            if (!fs::exists(tar, gone)) {
                job_.progress.say(
                    fmt::format("{}: its context has no base, the Dockerfile's head says how to make it",
                                job_.plan.images[i].id));
                continue;
            }
            const auto folder = job_.settings.out / job_.plan.rendering.images[i].folder;
            CM_TRY(file::link_or_copy(tar, folder / bootstrap->file));
        }
        return Done{};
    }

    Status stage(std::size_t index) {
        return stage_copies(job_.plan.copies[index],
                            job_.settings.out / job_.plan.rendering.images[index].folder);
    }

    Status link_base(std::size_t index) {
        const auto& image = job_.plan.images[index];
        if (!image.references().empty()) return Done{};
        const auto folder = job_.settings.out / job_.plan.rendering.images[index].folder;
        return file::link_or_copy(bases_.at(image.base_name()).path,
                                  folder / job_.plan.bootstrap(image)->file);
    }

    // The kernels lie in the output folder once; a context gets them when its image is built. The list of
    // these files lies in the context, too, so that those of an older suite go.
    Status write_suite(std::size_t index) {
        std::vector<Artifact> files;
        for (const auto& [path, content] : job_.plan.rendering.suite) {
            if (is_in_context(path, job_.plan.images[index]))
                files.push_back({fs::path("suite") / path, content});
        }
        CM_TRY(write_artifacts(job_.settings.out / job_.plan.rendering.images[index].folder, files));
        return Done{};
    }

    Status build_image(std::size_t index, bool proof) {
        const auto& rendered = job_.plan.rendering.images[index];
        engine::BuildRequest request;
        request.context = job_.settings.out / rendered.folder;
        if (proof) request.dockerfile = request.context / kProofFile;
        request.reference = proof ? rendered.proof_reference : rendered.reference;
        request.platform = job_.plan.images[index].platform();
        request.network = job_.input.matrix.build.network;
        request.ca_bundle = job_.input.matrix.build.ca_bundle;
        request.netrc = job_.input.matrix.build.netrc;
        request.needs_store = proof;
        request.labels = {
            {std::string(engine::kInputsLabel), proof ? rendered.proof_inputs : rendered.inputs}};
        if (!revision_.empty()) request.labels.emplace_back(kRevisionLabel, revision_);
        const auto name = fmt::format("logs/build-{}{}.log", rendered.id, proof ? "-proof" : "");
        job_.plan.report.images[index].log = name;
        return engine_build(
            job_.engine, request,
            {rendered.id, job_.settings.out / name, job_.settings.build_limit, job_.settings.cancellation},
            job_.progress);
    }

    void mark_cells() {
        for (auto& cell : job_.plan.report.cells) {
            const auto found = job_.plan.image_of.find(cell.id);
            if (found == job_.plan.image_of.end() || cell.outcome != CellOutcome::planned) continue;
            const auto& image = job_.plan.report.images[found->second];
            if (image.built) {
                cell.proof = Proof::built;
            } else if (!image.error.empty()) {
                cell.outcome = CellOutcome::errored;
                cell.reason = image.error;
                cell.log = image.log;
            } else {
                cell.reason = "interrupted";
            }
        }
    }

    Job& job_;
    std::vector<std::size_t> work_;
    std::set<std::size_t> images_there_;  ///< of work_: only their proof is to be built
    std::map<std::string, BootstrapTar> bases_;
    std::string revision_;  ///< of the matrix file and what it names; empty: of none
};

}  // namespace

Result<Present> find_images(const Job& job, const RenderedImage& rendered) {
    const auto* cancellation = job.settings.cancellation;
    Present present;
    CM_TRY_ASSIGN(auto runtime, engine::inspect(job.engine, rendered.reference, cancellation));
    CM_TRY_ASSIGN(auto proof, engine::inspect(job.engine, rendered.proof_reference, cancellation));
    present.image_current = is_of(runtime, rendered.inputs);
    present.current = present.image_current && is_of(proof, rendered.proof_inputs);
    if (runtime) present.runtime = std::move(*runtime);
    if (proof) present.proof = std::move(*proof);
    return present;
}

void record(const Present& present, ImageResult& result) {
    result.built = true;
    result.digest = present.runtime.id;
    result.runtime_bytes = present.runtime.bytes;
    result.proof_bytes = present.proof.bytes;
    const auto& labels = present.runtime.labels;
    if (const auto named = labels.find(std::string(kRevisionLabel)); named != labels.end())
        result.revision = text::printable(named->second);
}

Status try_missing_bases(Job& job) {
    auto& plan = job.plan;
    std::map<std::string, Status> tried;  // by Image::base_name
    for (const auto& image : plan.images) {
        const auto* bootstrap = plan.bootstrap(image);
        if (!image.references().empty() || bootstrap == nullptr || plan.lock.base(image) != nullptr ||
            !plan.is_chosen(image))
            continue;
        auto found = tried.find(image.base_name());
        if (found == tried.end()) {
            const auto tar = ensure_bootstrap(*bootstrap, bootstrap_context(job));
            found = tried.emplace(image.base_name(), tar.ok() ? Status(Done{}) : Status(tar.failure())).first;
        }
        if (found->second.ok()) continue;
        if (found->second.failure().code != ExitCode::environment) return found->second;
        plan.not_run.emplace(image.id, found->second.failure());
    }
    return Done{};
}

Status build_plan(Job& job) {
    return Builder(job).run();
}

}  // namespace cudamatrix::job
