// build: {snapshot: auto}: packages come from the state that their archive had when today began, where its
// service has that; else from the live archive.
#include <algorithm>
#include <chrono>
#include <memory>

#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "run/job/lock.hpp"

namespace cudamatrix::job {
namespace {

constexpr std::chrono::seconds kPatience{5};
constexpr std::string_view kReleaseFile = "-----BEGIN PGP SIGNED MESSAGE-----";

// What the images of one archive say of its state.
struct Use {
    const Image* chosen = nullptr;  ///< one that is
    bool pinned = false;            ///< packages of one are pinned in the state that the lock has now
    const Image* kept = nullptr;    ///< one of these that is not chosen
};

bool is_decided(const Image& image, const Lock& lock) {
    if (lock.pins(image) != nullptr) return true;
    const auto* base = image.references().empty() ? lock.base(image) : nullptr;
    return base != nullptr && !is_of_snapshot(base->command);
}

// By archive.
std::map<std::string, Use> uses_of(const Plan& plan) {
    std::map<std::string, Use> uses;
    for (const auto& image : plan.images) {
        if (image.snapshot_archives.empty()) continue;
        auto& use = uses[image.snapshot_archives.front()];
        const bool chosen = plan.is_chosen(image);
        const bool pinned = is_decided(image, plan.lock);
        if (chosen && use.chosen == nullptr) use.chosen = &image;
        if (!chosen && pinned && use.kept == nullptr) use.kept = &image;
        use.pinned |= pinned;
    }
    return uses;
}

// Why --update does not move the state that packages are pinned in; empty: it is not asked to, or does.
std::string why_it_stays(const Use& use, const LockScope& scope) {
    if (!scope.snapshots())
        return scope.apt({}) ? "only `cudamatrix lock --update` without words moves it" : "";
    return use.kept == nullptr ? "" : fmt::format("{}, which is not chosen, is pinned in it", use.kept->id);
}

// Archives whose state is to be decided now, with an image of each.
std::map<std::string, const Image*> open_archives(Job& job, const LockScope& scope) {
    std::map<std::string, const Image*> open;
    const auto& taken = job.plan.lock.snapshots;
    for (const auto& [archive, use] : uses_of(job.plan)) {
        if (use.chosen == nullptr) continue;
        const auto now = taken.find(archive);
        const bool decided = use.pinned || now != taken.end();
        const auto why = decided ? why_it_stays(use, scope) : "";
        if (!why.empty() && now != taken.end())
            job.progress.say(fmt::format("packages of {} stay as of {}: {}", archive, now->second, why));
        if (!decided || (scope.snapshots() && why.empty())) open.emplace(archive, use.chosen);
    }
    return open;
}

// A site that has the archive and not its service takes packages from its own; and an official image, where
// only that is wanted, has no certificates for a service by https.
bool is_out_of_question(const Job& job, const Image& image) {
    const auto& matrix = job.input.matrix;
    const auto& facts = job.input.facts;
    const bool official = image.family == "debian" && matrix.build.base_from == "registry";
    return std::ranges::any_of(image.snapshot_archives, [&](const std::string& archive) {
        const auto service = snapshot_service(facts, matrix.mirrors, archive);
        if (official && matrix.build.ca_bundle.empty() && service.starts_with("https:")) return true;
        return !lookup::mirror_of_source(facts, matrix.mirrors, archive).empty() &&
               service == snapshot_service(facts, {}, archive);
    });
}

// Of the image, or, where its tag does not name the distribution, of any release that the archive has.
std::string codename_of(const Facts& facts, const Image& image) {
    if (const auto os = lookup::os(facts, image.os)) return std::string(os->text("codename"));
    std::string suite;
    for (const auto& row : facts.rows("operating_systems")) {
        if (row.text("os").starts_with(image.snapshot_archives.front()) && row.has("package_manager"))
            suite = row.text("codename");
    }
    return suite;
}

class Services {
  public:
    explicit Services(const Job& job) : job_(job) {}

    /// Nothing where all archives of the image can be had at that time, else the first that cannot, and why.
    Result<std::string> missing(const Image& image, const std::string& time) {
        const auto& mirrors = job_.input.matrix.mirrors;
        const auto suite = codename_of(job_.input.facts, image);
        for (const auto& archive : image.snapshot_archives) {
            const auto service = snapshot_service(job_.input.facts, mirrors, archive);
            const bool own = archive == image.snapshot_archives.front();
            CM_TRY_ASSIGN(const auto why, ask(fmt::format("{}/{}/dists/{}{}/InRelease", service, time, suite,
                                                          own ? "" : "-security")));
            if (!why.empty()) return fmt::format("{} gives no snapshot of {}: {}", service, time, why);
        }
        return std::string();
    }

  private:
    // Why there is none: its name is left out.
    Result<std::string> ask(const std::string& address) {
        if (!http_) {
            auto options = http_options(job_);
            options.mirrors.clear();
            options.attempts = 1;
            options.connect_limit = options.silence_limit = kPatience;
            auto opened = Http::open(std::move(options));
            if (!opened.ok()) return opened.failure().diagnostics.front().message;
            http_ = std::move(*opened);
        }
        HttpConnection connection(*http_);
        const auto answer = connection.get({address});
        if (!answer.ok() && answer.failure().code == ExitCode::interrupted) return answer.failure();
        if (!answer.ok()) {
            const auto& said = answer.failure().diagnostics.front().message;
            const auto name = url::shown(address) + ": ";
            return text::printable(said.starts_with(name) ? said.substr(name.size()) : said);
        }
        if (answer->status != 200) return describe_status(answer->status);
        return std::string(answer->body.starts_with(kReleaseFile) ? "" : "it answers with something else");
    }

    const Job& job_;
    std::unique_ptr<Http> http_;
};

}  // namespace

Status decide_snapshots(Job& job, const LockScope& scope, TakenSnapshots& taken) {
    const auto time = snapshot_time(job.settings.today);
    Services services(job);
    for (const auto& [archive, image] : open_archives(job, scope)) {
        taken.erase(archive);
        if (is_out_of_question(job, *image)) continue;
        CM_TRY_ASSIGN(const auto why, services.missing(*image, time));
        if (why.empty()) {
            taken[archive] = time;
            continue;
        }
        job.progress.say(fmt::format(
            "{}; packages of {} are pinned in the live archive, whose next point release removes them "
            "(build: {{snapshot: none}} accepts that; mirrors: can name a mirror of the service)",
            why, archive));
    }
    return Done{};
}

}  // namespace cudamatrix::job
