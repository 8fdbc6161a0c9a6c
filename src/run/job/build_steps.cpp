#include <algorithm>
#include <system_error>

#include "base/file.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "render/output/output_folder.hpp"
#include "run/job/build_output.hpp"
#include "run/job/folder.hpp"
#include "run/job/lock.hpp"
#include "run/job/source_revision.hpp"
#include "run/job/work.hpp"

namespace cudamatrix::job {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLogTail = 20;  // lines of a failed build's log that are told at once

std::string log_name(const Image& image, bool proof) {
    return fmt::format("logs/build-{}{}.log", image.id, proof ? "-proof" : "");
}

}  // namespace

Status BuildSteps::add() {
    CM_TRY(find_work());
    if (images_.empty()) return Done{};
    CM_TRY(require_network(job_, "build"));
    CM_TRY(check());
    find_revision();
    for (const auto index : images_) {
        if (job_.plan.images[index].references().empty()) add_base(job_.plan.images[index]);
    }
    add_shared_stages();
    for (const auto index : images_)
        add_image(index);
    return Done{};
}

// Images that are not current; the others are done.
Status BuildSteps::find_work() {
    std::vector<std::size_t> asked;
    for (std::size_t i = 0; i < job_.plan.images.size(); ++i) {
        const auto& image = job_.plan.images[i];
        if (!job_.plan.is_chosen(image)) continue;
        if (const auto why = job_.plan.not_run.find(image.id); why != job_.plan.not_run.end()) {
            not_run(i, why->second);
        } else {
            asked.push_back(i);
        }
    }
    // Each question is a program that starts.
    CM_TRY(parallel_for(asked.size(), 1, [&](std::size_t begin, std::size_t end) -> Status {
        for (auto at = begin; at < end; ++at)
            CM_TRY(work_.look_at(asked[at]));
        return Done{};
    }));
    for (const auto i : asked) {
        const auto& image = job_.plan.images[i];
        if (!work_.present(i).is_current()) {
            images_.push_back(i);
            continue;
        }
        auto& result = job_.plan.report.images[i];
        result.reused = true;
        record(work_.present(i), result);
        job_.progress.say(fmt::format("{}: up to date, reused", image.id));
    }
    return Done{};
}

// What would fail for all of them is asked before anything is started.
Status BuildSteps::check() const {
    std::vector<const Image*> images;
    for (const auto i : images_)
        images.push_back(&job_.plan.images[i]);
    const auto bytes = job_.settings.disk_bytes != 0 ? job_.settings.disk_bytes : engine_bytes_needed(images);
    std::vector<DiskDemand> demands{{job_.settings.out, output_bytes_needed(images)}};
    if (const auto folder = engine::storage(job_.engine, job_.settings.cancellation)) {
        demands.push_back({*folder, bytes});
    } else {
        job_.progress.say("free disk of the engine is not checked: its folder is not on this machine");
    }
    return check_disk(demands);
}

// Known only now: a rendered file that named the commit which it is in would never be up to date.
void BuildSteps::find_revision() {
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

void BuildSteps::not_run(std::size_t index, const Failure& why) {
    auto& result = job_.plan.report.images[index];
    result.not_run = why.code == ExitCode::environment;
    result.error = "not run: ";
    if (!why.diagnostics.empty()) result.error += why.diagnostics.front().message;
    job_.progress.say(fmt::format("{}: {}", result.id, result.error));
}

// One step for all images on it. The engine pulls what a registry has, by the digest in the Dockerfile.
void BuildSteps::add_base(const Image& image) {
    const auto name = image.base_name();
    if (base_steps_.contains(name)) return;
    bases_[name];  // steps write to it side by side
    Step step{StepKind::base, name, {}, Work::kBuilds, {}, {}};
    step.work = [this, &image](const auto& tell) { return make_base(image, tell); };
    step.command = [this, &image]() -> std::optional<Command> {
        const auto* bootstrap = job_.plan.bootstrap(image);
        if (bootstrap == nullptr) return std::nullopt;
        return bootstrap_command(*bootstrap, bootstrap_context(job_));
    };
    base_steps_.emplace(name, work_.add(std::move(step)));
}

StepResult BuildSteps::make_base(const Image& image, const Tell& tell) {
    const auto name = image.base_name();
    const auto start = job_.progress.seconds();
    const auto* bootstrap = job_.plan.bootstrap(image);
    auto context = bootstrap_context(job_);
    context.progress = tell;
    auto tar = bootstrap != nullptr ? ensure_bootstrap(*bootstrap, context)
                                    : environment_failure("no base is known for " + name);
    if (tar.ok()) {
        const auto* pinned = job_.plan.lock.base(image);
        if (pinned != nullptr && pinned->sha256 != tar->sha256)
            return work_.stop(base_moved(name, pinned->sha256, tar->sha256, job_.input.matrix));
        bases_.find(name)->second = *tar;
        return {true, tar->reused ? "there already"
                                  : fmt::format("bootstrapped in {:.0f} s", job_.progress.seconds() - start)};
    }
    const auto& failure = tar.failure();
    if (failure.code != ExitCode::environment) return work_.stop(failure);
    for (const auto index : images_) {
        const auto& other = job_.plan.images[index];
        if (other.references().empty() && other.base_name() == name) not_run(index, failure);
    }
    return {false, "FAILED " + failure.diagnostics.front().message};
}

std::vector<std::size_t> BuildSteps::base_of(std::size_t index) const {
    const auto& image = job_.plan.images[index];
    const auto base = base_steps_.find(image.base_name());
    if (base == base_steps_.end() || !image.references().empty()) return {};
    return {base->second};
}

std::vector<BuildSteps::Target> BuildSteps::targets_of(std::size_t index) const {
    if (work_.present(index).runtime.is_current) return {{index, true}};
    return {{index, false}, {index, true}};
}

void BuildSteps::add_image(std::size_t index) {
    const auto& image = job_.plan.images[index];
    auto after = base_of(index);
    for (const auto target : targets_of(index)) {
        const auto kind = target.proof ? StepKind::proof : StepKind::image;
        Step step{kind, image.id, after, Work::kBuilds, {}, {}};
        for (const auto stage : stages_before_[target])
            step.after.push_back(stage);
        step.work = [this, target](const Tell& tell) { return build(target, tell); };
        step.command = [this, target]() -> std::optional<Command> {
            return build_command(job_.engine, request_for(target));
        };
        after = {work_.add(std::move(step))};
    }
    work_.proof_steps.emplace(index, after.front());
}

StepResult BuildSteps::build(Target target, const Tell& tell) {
    const auto [index, proof] = target;
    auto& result = job_.plan.report.images[index];
    const auto start = job_.progress.seconds();
    result.log = log_name(job_.plan.images[index], proof);
    auto call = build_call(job_, result.id, result.log);
    call.tell = tell;
    auto status = fill_context(job_, target, base_path(index));
    if (status.ok()) status = engine_build(job_.engine, request_for(target), call);
    const auto seconds = job_.progress.seconds() - start;
    result.seconds += seconds;
    if (status.ok()) status = proof ? work_.look_at_proof(index) : work_.look_at_image(index);
    const auto& there = work_.present(index);
    const auto& made = proof ? there.proof : there.runtime;
    if (status.ok() && !made.is_current)
        status = environment_failure(result.id + ": the engine does not hold what it built");
    if (!status.ok()) return fail(result, status.failure());
    if (proof) record(there, result);
    return {true, fmt::format("built in {:.0f} s, {}", seconds, text::human_bytes(made.info.bytes))};
}

StepResult BuildSteps::fail(ImageResult& result, const Failure& failure) const {
    if (failure.code == ExitCode::interrupted || failure.diagnostics.empty()) return {false, "interrupted"};
    result.error = failure.diagnostics.front().message;
    result.not_run = failure.code == ExitCode::environment;  // a full disk says nothing of the image
    return {false, "FAILED " + result.error, last_lines(job_.settings.out / result.log, kLogTail)};
}

fs::path BuildSteps::base_path(std::size_t index) const {
    const auto found = bases_.find(job_.plan.images[index].base_name());
    return found == bases_.end() ? fs::path() : found->second.path;
}

engine::BuildRequest BuildSteps::request_for(Target target) const {
    const auto [index, proof] = target;
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
    request.labels = {{std::string(kInputsLabel), proof ? rendered.proof_inputs : rendered.inputs}};
    if (!revision_.empty()) request.labels.emplace_back(kRevisionLabel, revision_);
    return request;
}

Status BuildSteps::settle() {
    if (!job_.interrupted()) {
        CM_TRY(link_reused());
    }
    for (auto& cell : job_.plan.report.cells) {
        const auto found = job_.plan.image_of.find(cell.id);
        if (found == job_.plan.image_of.end() || cell.outcome != CellOutcome::planned) continue;
        auto& image = job_.plan.report.images[found->second];
        if (!image.built && image.error.empty() && !job_.interrupted())
            image.error = "not built: an earlier step failed";
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
    return Done{};
}

// The context of an image that needs no build stays one that `docker build` by hand takes, as far as its
// base is there: no reason to bootstrap.
Status BuildSteps::link_reused() const {
    for (std::size_t i = 0; i < job_.plan.images.size(); ++i) {
        if (!job_.plan.report.images[i].reused) continue;
        CM_TRY(stage_copies(job_.plan.copies[i], job_.settings.out / job_.plan.rendering.images[i].folder));
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

}  // namespace cudamatrix::job
