#include "run/job/build.hpp"

#include <map>

#include "base/file.hpp"
#include "base/text.hpp"
#include "render/output/output_folder.hpp"
#include "run/job/bootstrap.hpp"
#include "run/job/disk.hpp"
#include "run/job/engine_build.hpp"
#include "run/job/lock.hpp"
#include "run/job/schedule.hpp"
#include "run/job/source_revision.hpp"

namespace cudamatrix::job {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRevisionLabel = "org.opencontainers.image.revision";

bool is_of(const std::optional<engine::ImageInfo>& info, const RenderedImage& rendered) {
    if (!info) return false;
    const auto label = info->labels.find(std::string(engine::kInputsLabel));
    return label != info->labels.end() && label->second == rendered.inputs;
}

Result<BootstrapTar> bootstrap_tar(const Bootstrap& bootstrap, const RunSettings& settings, Ticker& ticker) {
    return ensure_bootstrap(bootstrap,
                            {settings.out / "bootstrap", settings.environment, settings.cancellation,
                             [&ticker](std::string_view line) { ticker.say(line); }});
}

class Builder {
  public:
    Builder(const RunInput& input, const RunSettings& settings, const engine::Engine& engine, Ticker& ticker,
            Plan& plan)
        : input_(input), settings_(settings), engine_(engine), ticker_(ticker), plan_(plan) {}

    Status run() {
        CM_TRY(find_work());
        CM_TRY(prepare());
        CM_TRY(link_reused());
        const Schedule schedule{settings_.jobs, settings_.keep_going, settings_.cancellation};
        const auto started = run_jobs(work_.size(), schedule, [this](std::size_t i) { return build(i); });
        for (std::size_t i = started; i < work_.size(); ++i) {
            if (!interrupted()) plan_.report.images[work_[i]].error = "not built: an earlier image failed";
        }
        mark_cells();
        return Done{};
    }

  private:
    [[nodiscard]] bool interrupted() const {
        return settings_.cancellation != nullptr && settings_.cancellation->requested();
    }

    // Images that are not current; the others are done.
    Status find_work() {
        for (std::size_t i = 0; i < plan_.images.size(); ++i) {
            if (const auto why = plan_.not_run.find(plan_.images[i].id); why != plan_.not_run.end()) {
                not_run(i, why->second);
                continue;
            }
            CM_TRY_ASSIGN(const auto present,
                          find_images(engine_, plan_.rendering.images[i], settings_.cancellation));
            if (present.current) {
                plan_.report.images[i].reused = true;
                record(present, plan_.report.images[i]);
                ticker_.say(fmt::format("{}: up to date, reused", plan_.images[i].id));
            } else {
                work_.push_back(i);
            }
        }
        return Done{};
    }

    // Everything that would fail for all of them: asked before anything is started.
    Status prepare() {
        if (work_.empty()) return Done{};
        CM_TRY(require_network(input_, "build"));
        CM_TRY(check());
        std::map<std::string, Failure> no_base;  // by Image::base_name: one attempt is enough
        std::vector<std::size_t> buildable;
        for (const auto i : work_) {
            const auto& image = plan_.images[i];
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
        auto& result = plan_.report.images[index];
        result.not_run = why.code == ExitCode::environment;
        result.error = "not run: ";
        if (!why.diagnostics.empty()) result.error += why.diagnostics.front().message;
        ticker_.say(fmt::format("{}: {}", result.id, result.error));
    }

    // The engine pulls what a registry has, by the digest in the Dockerfile.
    Status make_base(const Image& image) {
        if (!image.references().empty() || bases_.count(image.base_name()) != 0) return Done{};
        const auto* bootstrap = plan_.bootstrap(image);
        if (bootstrap == nullptr) return environment_failure("no base is known for " + image.base_name());
        CM_TRY_ASSIGN(auto tar, bootstrap_tar(*bootstrap, settings_, ticker_));
        const auto* pinned = plan_.lock.base(image);
        if (pinned != nullptr && pinned->sha256 != tar.sha256)
            return base_moved(image.base_name(), pinned->sha256, tar.sha256, input_.matrix);
        bases_.emplace(image.base_name(), std::move(tar));
        return Done{};
    }

    // Known only now: a rendered file that named the commit which it is in would never be up to date.
    void find_revision() {
        const auto& matrix = input_.matrix;
        const fs::path file(matrix.path);
        std::vector<std::string> files{file.filename().string(), std::string(kLockFile)};
        for (const auto& entry : matrix.deployment.images) {
            if (!entry.requirements.text.empty()) files.push_back(entry.requirements.text);
            for (const auto& copy : entry.copy)
                files.push_back(copy.from);
        }
        const auto folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
        auto found = source_revision(folder, files, settings_.environment, settings_.cancellation);
        revision_ = std::move(found.id);
        if (revision_.empty()) ticker_.say("images will name no source revision: " + found.why_none);
    }

    Status check() {
        std::vector<const Image*> images;
        for (const auto i : work_)
            images.push_back(&plan_.images[i]);
        const auto bytes = settings_.disk_bytes != 0 ? settings_.disk_bytes : engine_bytes_needed(images);
        std::vector<DiskDemand> demands{{settings_.out, output_bytes_needed(images)}};
        if (const auto folder = engine::storage(engine_, settings_.cancellation)) {
            demands.push_back({*folder, bytes});
        } else {
            ticker_.say("free disk of the engine is not checked: its folder is not on this machine");
        }
        return check_disk(demands);
    }

    bool build(std::size_t job) {
        const auto index = work_[job];
        auto& result = plan_.report.images[index];
        const auto& rendered = plan_.rendering.images[index];
        const auto start = ticker_.seconds();
        ticker_.say(fmt::format("[build {}/{}] {}", job + 1, work_.size(), result.id));
        auto status = link_base(index);
        if (status.ok()) status = write_suite(index);
        if (status.ok()) status = stage(index);
        for (const bool proof : {false, true}) {
            if (status.ok()) status = build_target(index, proof);
        }
        result.seconds = ticker_.seconds() - start;
        if (status.ok()) {
            const auto present = find_images(engine_, rendered, settings_.cancellation);
            if (!present.ok()) {
                status = present.failure();
            } else if (!present->current) {
                status = environment_failure(result.id + ": the engine does not hold what it built");
            } else {
                record(*present, result);
            }
        }
        if (!status.ok()) return fail(result, status.failure());
        ticker_.say(fmt::format("[build {}/{}] {} built in {:.0f} s, {}", job + 1, work_.size(), result.id,
                                result.seconds, text::human_bytes(result.runtime_bytes)));
        return true;
    }

    bool fail(ImageResult& result, const Failure& failure) {
        if (failure.code == ExitCode::interrupted || failure.diagnostics.empty()) return false;
        result.error = failure.diagnostics.front().message;
        ticker_.say(fmt::format("FAILED {}", result.error));
        return false;
    }

    // The context of an image that needs no build stays one that `docker build` by hand takes, as far as its
    // base is at hand: no reason to bootstrap.
    Status link_reused() {
        for (std::size_t i = 0; i < plan_.images.size(); ++i) {
            if (!plan_.report.images[i].reused) continue;
            CM_TRY(stage(i));
            const auto* bootstrap = plan_.bootstrap(plan_.images[i]);
            if (bootstrap == nullptr) continue;
            const auto tar = settings_.out / "bootstrap" / bootstrap->file;
            std::error_code gone;
            if (!fs::exists(tar, gone)) {
                ticker_.say(
                    fmt::format("{}: its context has no base, the Dockerfile's head says how to make it",
                                plan_.images[i].id));
                continue;
            }
            const auto folder = settings_.out / plan_.rendering.images[i].folder;
            CM_TRY(file::link_or_copy(tar, folder / bootstrap->file));
        }
        return Done{};
    }

    Status stage(std::size_t index) {
        return stage_copies(plan_.copies[index], settings_.out / plan_.rendering.images[index].folder);
    }

    Status link_base(std::size_t index) {
        const auto& image = plan_.images[index];
        if (!image.references().empty()) return Done{};
        const auto folder = settings_.out / plan_.rendering.images[index].folder;
        return file::link_or_copy(bases_.at(image.base_name()).path, folder / plan_.bootstrap(image)->file);
    }

    // The kernels lie in the output folder once; a context gets them when its image is built. The list of
    // these files lies in the context, too, so that those of an older suite go.
    Status write_suite(std::size_t index) {
        std::vector<Artifact> files;
        for (const auto& [path, content] : plan_.rendering.suite) {
            if (is_in_context(path, plan_.images[index]))
                files.push_back({fs::path("suite") / path, content});
        }
        CM_TRY(write_artifacts(settings_.out / plan_.rendering.images[index].folder, files));
        return Done{};
    }

    Status build_target(std::size_t index, bool proof) {
        const auto& rendered = plan_.rendering.images[index];
        engine::BuildRequest request;
        request.context = settings_.out / rendered.folder;
        request.target = proof ? "proof" : "runtime";
        request.reference = proof ? rendered.proof_reference : rendered.reference;
        request.platform = plan_.images[index].platform();
        request.network = input_.matrix.build.network;
        request.ca_bundle = input_.matrix.build.ca_bundle;
        request.netrc = input_.matrix.build.netrc;
        request.labels = {{std::string(engine::kInputsLabel), rendered.inputs}};
        if (!revision_.empty()) request.labels.emplace_back(kRevisionLabel, revision_);
        const auto name = fmt::format("logs/build-{}{}.log", rendered.id, proof ? "-proof" : "");
        plan_.report.images[index].log = name;
        return engine_build(
            engine_, request,
            {rendered.id, settings_.out / name, settings_.build_limit, settings_.cancellation}, ticker_);
    }

    void mark_cells() {
        for (auto& cell : plan_.report.cells) {
            const auto found = plan_.image_of.find(cell.id);
            if (found == plan_.image_of.end()) continue;
            const auto& image = plan_.report.images[found->second];
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

    const RunInput& input_;
    const RunSettings& settings_;
    const engine::Engine& engine_;
    Ticker& ticker_;
    Plan& plan_;
    std::vector<std::size_t> work_;
    std::map<std::string, BootstrapTar> bases_;
    std::string revision_;  ///< of the matrix file and what it names; empty: of none
};

}  // namespace

Result<Present> find_images(const engine::Engine& engine, const RenderedImage& rendered,
                            const Cancellation* cancellation) {
    Present present;
    CM_TRY_ASSIGN(auto runtime, engine::inspect(engine, rendered.reference, cancellation));
    CM_TRY_ASSIGN(auto proof, engine::inspect(engine, rendered.proof_reference, cancellation));
    present.current = is_of(runtime, rendered) && is_of(proof, rendered);
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

Status try_missing_bases(const RunSettings& settings, Ticker& ticker, Plan& plan) {
    std::map<std::string, Status> tried;  // by Image::base_name
    for (const auto& image : plan.images) {
        const auto* bootstrap = plan.bootstrap(image);
        if (!image.references().empty() || bootstrap == nullptr || plan.lock.base(image) != nullptr) continue;
        auto found = tried.find(image.base_name());
        if (found == tried.end()) {
            const auto tar = bootstrap_tar(*bootstrap, settings, ticker);
            found = tried.emplace(image.base_name(), tar.ok() ? Status(Done{}) : Status(tar.failure())).first;
        }
        if (found->second.ok()) continue;
        if (found->second.failure().code != ExitCode::environment) return found->second;
        plan.not_run.emplace(image.id, found->second.failure());
    }
    return Done{};
}

Status build_plan(const RunInput& input, const RunSettings& settings, const engine::Engine& engine,
                  Ticker& ticker, Plan& plan) {
    return Builder(input, settings, engine, ticker, plan).run();
}

}  // namespace cudamatrix::job
