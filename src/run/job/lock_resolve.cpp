// Asks the package managers of each image's own base what they would install, and writes the lock.
#include <algorithm>
#include <optional>
#include <system_error>

#include "base/build_info.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "render/files/lock_request.hpp"
#include "run/job/engine_build.hpp"
#include "run/job/lock.hpp"

namespace cudamatrix::job {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestAnswer = 64u << 20;  // pip's report for torch has a few megabytes

class Resolver {
  public:
    Resolver(Job& job, const LockWork& work) : job_(job), work_(work), folder_(job.settings.out / "lock") {}

    Result<Lock> resolve() {
        Lock lock = work_.lock;
        lock.tool = kVersion;
        lock.facts = job_.input.facts.hash();
        lock.templates = job_.plan.rendering.templates_hash;
        for (std::size_t i = 0; i < work_.images.size(); ++i) {
            const auto& image = *work_.images[i];
            job_.progress.say(fmt::format("[lock {}/{}] {}: resolving packages and wheels", i + 1,
                                          work_.images.size(), image.id));
            const auto done = resolve(image, lock);
            if (done.ok()) continue;
            if (done.failure().code == ExitCode::bad_input) return done.failure();
            unresolved.emplace(image.id, done.failure());
            if (done.failure().code != ExitCode::interrupted) continue;
            for (auto left = i + 1; left < work_.images.size(); ++left)
                unresolved.emplace(work_.images[left]->id, done.failure());
            // What is resolved by now is kept.
            if (unresolved.size() == work_.images.size()) return done.failure();
            break;
        }
        put_back(lock);
        std::error_code error;
        fs::remove_all(folder_, error);
        return lock;
    }

    /// Of bases that were made again, those that `lock` pins stay.
    [[nodiscard]] Status settle_bases(const Lock& lock) const {
        Status first = Done{};
        for (const auto& [suite, bootstrap] : made_) {
            const auto before = job_.plan.lock.bases.find(suite);
            const auto now = lock.bases.find(suite);
            auto settled = settle_bootstrap(*bootstrap, job_.settings.out / "bootstrap",
                                            before != job_.plan.lock.bases.end() && now != lock.bases.end() &&
                                                before->second.sha256 == now->second.sha256);
            if (!settled.ok() && first.ok()) first = std::move(settled);
        }
        return first;
    }

    std::map<std::string, Failure> unresolved;  ///< by Image::id; see LockOutcome

  private:
    Status resolve(const Image& image, Lock& lock) {
        const bool bootstrapped = image.references().empty();
        std::optional<BootstrapTar> tar;
        if (bootstrapped) {
            // One attempt is enough for all images of a suite.
            if (const auto before = no_base_.find(image.base_name()); before != no_base_.end())
                return before->second;
            auto made = base_of(image, lock);
            if (!made.ok()) {
                no_base_.emplace(image.base_name(), made.failure());
                return made.failure();
            }
            tar = std::move(*made);
        }
        CM_TRY_ASSIGN(auto resolved, ask(image, lock, tar));
        lock.images[image.id] = merged(image, std::move(resolved.pins), lock);
        if (bootstrapped) lock.bases[image.base_name()].packages = std::move(resolved.base_packages);
        return Done{};
    }

    // Packages were resolved on a base, and in a state of an archive. One that has moved under an image that
    // could not be resolved, or on which nothing could be, goes back to what it was, with all that was
    // resolved on it.
    void put_back(Lock& lock) {
        for (std::size_t before = 0; before != unresolved.size();) {
            before = unresolved.size();
            for (const auto* image : work_.images) {
                if (!unresolved.contains(image->id)) continue;
                if (!same_base(*image, job_.plan.lock, lock) && holds_back(*image, share_base)) {
                    put_base_back(*image, lock);
                    hold_back(*image, share_base);
                }
                if (!same_snapshot(*image, job_.plan.lock, lock) && holds_back(*image, share_archive)) {
                    const auto& archive = image->snapshot_archives.front();
                    restore(job_.plan.lock.snapshots, lock.snapshots, archive);
                    hold_back(*image, share_archive);
                }
            }
        }
        for (const auto& [id, why] : unresolved)
            restore(job_.plan.lock.images, lock.images, id);
    }

    template <class Pins>
    static void restore(const Pins& before, Pins& now, const std::string& name) {
        const auto old = before.find(name);
        if (old == before.end()) {
            now.erase(name);
        } else {
            now[name] = old->second;
        }
    }

    static bool share_base(const Image& one, const Image& other) {
        const auto mine = one.references();
        const auto its = other.references();
        if (mine.empty() || its.empty())
            return mine.empty() && its.empty() && one.base_name() == other.base_name();
        return std::ranges::any_of(
            mine, [&](const std::string& reference) { return std::ranges::count(its, reference) > 0; });
    }

    static bool share_archive(const Image& one, const Image& other) {
        return !one.snapshot_archives.empty() && one.snapshot_archives == other.snapshot_archives;
    }

    // Whether what the image shares with others, and could not be resolved on, is not to move.
    template <class Share>
    [[nodiscard]] bool holds_back(const Image& image, const Share& share) const {
        return had_pins(image) || std::ranges::none_of(work_.images, [&](const Image* other) {
                   return share(image, *other) && !unresolved.contains(other->id);
               });
    }

    template <class Share>
    void hold_back(const Image& image, const Share& share) {
        const auto why = unresolved.at(image.id);
        for (const auto* other : work_.images) {
            if (share(image, *other)) unresolved.emplace(other->id, why);
        }
    }

    void put_base_back(const Image& image, Lock& lock) const {
        const auto& old = job_.plan.lock;
        for (const auto& reference : image.references()) {
            restore(old.references, lock.references, reference);
            restore(old.configurations, lock.configurations, reference);
        }
        if (image.references().empty()) restore(old.bases, lock.bases, image.base_name());
    }

    // For what it asked in the state of the archive that the lock had taken.
    [[nodiscard]] bool had_pins(const Image& image) const {
        auto then = image;
        if (!same_snapshot(image, job_.plan.lock, work_.lock)) {
            const auto& taken = job_.plan.lock.snapshots;
            const auto old = taken.find(image.snapshot_archives.front());
            then.sources.snapshot = old == taken.end() ? std::string() : old->second;
        }
        return job_.plan.lock.pins(then) != nullptr;
    }

    // The tar of the image's suite, recorded in `lock`; made again once where bases move.
    Result<BootstrapTar> base_of(const Image& image, Lock& lock) {
        const auto* bootstrap = job_.plan.bootstrap(image);
        if (bootstrap == nullptr) return environment_failure("no base is known for " + image.base_name());
        const bool moves = work_.scope.bases();
        const bool anew = moves && made_.emplace(image.base_name(), bootstrap).second;
        CM_TRY_ASSIGN(auto tar, ensure_bootstrap(*bootstrap, bootstrap_context(job_, anew)));
        const auto known = lock.bases.find(image.base_name());
        if (known != lock.bases.end() && !moves && known->second.sha256 != tar.sha256)
            return base_moved(image.base_name(), known->second.sha256, tar.sha256, job_.input.matrix);
        auto& base = lock.bases[image.base_name()];
        base.sha256 = tar.sha256;
        base.command = bootstrap->command;
        return tar;
    }

    // What is not to be moved stays. Packages were resolved on a base, and so were wheels beside a torch of
    // the base: on another one they are resolved anew.
    ImagePins merged(const Image& image, ImagePins fresh, const Lock& lock) const {
        const auto* old = job_.plan.lock.pins(image);
        if (old == nullptr) return fresh;
        const auto gaps = gaps_in(*old, image, job_.plan.lock);
        const bool same = same_base(image, job_.plan.lock, lock);
        if (!work_.scope.wheels(image.id) && (same || !image.torch_from_base)) {
            fresh.index = old->index;
            for (const auto& list : kWheelLists)
                keep(list, *old, gaps, fresh);
        }
        if (!work_.scope.apt(image.id) && same) {
            for (const auto& list : kAptLists)
                keep(list, *old, gaps, fresh);
        }
        return fresh;
    }

    // Keeps a list of pins, unless it lacks something that the base does not hold.
    template <class List>
    static void keep(const List& list, const ImagePins& old, const std::vector<PinGap>& gaps,
                     ImagePins& fresh) {
        const std::string name(list.name);
        const auto held_by = [&name](const ImagePins& pins) {
            const auto found = pins.held.find(name);
            return found == pins.held.end() ? std::vector<std::string>{} : found->second;
        };
        auto held = held_by(old);
        if (const auto gap = std::ranges::find(gaps, list.name, &PinGap::list); gap != gaps.end()) {
            const auto now = held_by(fresh);
            for (const auto& request : gap->names) {
                held.push_back(name_of_request(request));
                if (std::ranges::count(now, held.back()) == 0) return;
            }
        }
        fresh.*list.member = old.*list.member;
        fresh.held.erase(name);
        if (!held.empty()) fresh.held.emplace(name, std::move(held));
    }

    Result<Resolved> ask(const Image& image, const Lock& lock, const std::optional<BootstrapTar>& tar) {
        RenderSettings render;
        render.templates = job_.settings.templates;
        CM_TRY_ASSIGN(const auto request, lock_request(job_.input.matrix, image, render, &lock));
        const auto context = folder_ / image.id / "context";
        const auto answer = folder_ / image.id / "answer";
        CM_TRY(write_request(request, context, image, tar));
        std::error_code error;
        fs::remove_all(answer, error);
        CM_TRY(file::make_directories(answer));

        engine::BuildRequest build;
        build.context = context;
        build.target = "lock";
        build.platform = image.platform();
        build.network = job_.input.matrix.build.network;
        build.ca_bundle = job_.input.matrix.build.ca_bundle;
        build.netrc = job_.input.matrix.build.netrc;
        build.export_to = answer;
        build.no_cache = true;
        auto call = build_call(job_, image.id, "logs/lock-" + image.id + ".log");
        call.tell = [&](std::string_view line) {
            job_.progress.say(fmt::format("  {}: {}", image.id, line));
        };
        CM_TRY(engine_build(job_.engine, build, call));
        return read_resolution(image, [&answer](std::string_view name) -> std::optional<std::string> {
            auto content = file::read(answer / name, kLargestAnswer);
            if (!content.ok()) return std::nullopt;
            return std::move(*content);
        });
    }

    Status write_request(const std::vector<Artifact>& request, const fs::path& context, const Image& image,
                         const std::optional<BootstrapTar>& tar) {
        for (const auto& artifact : request) {
            const auto path = context / artifact.path;
            CM_TRY(file::make_directories(path.parent_path()));
            CM_TRY(file::write(path, artifact.content));
        }
        if (!tar) return Done{};
        return file::link_or_copy(tar->path, context / job_.plan.bootstrap(image)->file);
    }

    Job& job_;
    const LockWork& work_;
    fs::path folder_;
    std::map<std::string, const Bootstrap*> made_;  ///< by Image::base_name: what was bootstrapped again
    std::map<std::string, Failure> no_base_;        ///< by Image::base_name
};

}  // namespace

Failure base_moved(const std::string& suite, const std::string& locked, const std::string& found,
                   const Matrix& matrix) {
    return Failure{ExitCode::findings,
                   {Diagnostic::error(
                        fmt::format("the base of {} is not the one in {}: sha256 {} is locked, bootstrapping "
                                    "gives {}: its archive has moved on",
                                    suite, kLockFile, locked, found))
                        .with_fix("cudamatrix lock --update=bases " + matrix.path)}};
}

Result<LockOutcome> carry_out(Job& job, const LockWork& work) {
    const auto& before = job.plan.lock;
    LockOutcome outcome;
    if (work.images.empty() && work.lock == before) return outcome;
    Resolver resolver(job, work);
    auto lock = resolver.resolve();
    if (!lock.ok()) {
        static_cast<void>(resolver.settle_bases(before));  // the first failure is the one to tell
        return lock.failure();
    }
    outcome.unresolved = std::move(resolver.unresolved);
    outcome.changes = lock_changes(before, *lock);
    // Nothing resolved: a lock with no news in it is not written.
    const bool is_news = outcome.unresolved.empty() || !outcome.changes.empty();
    const auto written = is_news ? write_lock(lock_path(job.input.matrix), *lock) : Result<bool>(false);
    const auto settled = resolver.settle_bases(is_news && written.ok() ? *lock : before);
    if (!written.ok()) return written.failure();
    if (job.interrupted()) return Failure{ExitCode::interrupted, {}};
    if (is_news) CM_TRY(render_again(job, std::move(*lock)));
    CM_TRY(settled);
    return outcome;
}

}  // namespace cudamatrix::job
