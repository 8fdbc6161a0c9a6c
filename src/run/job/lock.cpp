#include "run/job/lock.hpp"

#include <algorithm>
#include <tuple>

#include "advise/diff/verdict_changes.hpp"
#include "base/text.hpp"

namespace cudamatrix::job {

HttpOptions http_options(const Job& job) {
    const auto& build = job.input.matrix.build;
    HttpOptions options;
    options.environment = job.settings.environment;
    if (!build.netrc.empty()) options.environment["NETRC"] = build.netrc;
    options.ca_bundle = build.ca_bundle;
    options.ca_advice =
        "name the site's certificates: build: {ca_bundle: FILE} in the matrix file, or --ca-bundle";
    options.mirrors = job.input.matrix.mirrors;
    options.cancellation = job.settings.cancellation;
    return options;
}

bool same_snapshot(const Image& image, const Lock& before, const Lock& after) {
    if (image.snapshot_archives.empty()) return true;
    const auto& archive = image.snapshot_archives.front();
    const auto old = before.snapshots.find(archive);
    const auto now = after.snapshots.find(archive);
    const bool had = old != before.snapshots.end();
    const bool has = now != after.snapshots.end();
    return had == has && (!had || old->second == now->second);
}

bool same_base(const Image& image, const Lock& before, const Lock& after) {
    const auto same = [](const auto* old, const auto* now) {
        return old != nullptr && now != nullptr && *old == *now;
    };
    for (const auto& reference : image.references()) {
        if (!same(before.registry_base(reference), after.registry_base(reference))) return false;
    }
    if (!image.references().empty()) return true;
    const auto* old = before.base(image);
    const auto* now = after.base(image);
    return old != nullptr && now != nullptr && old->sha256 == now->sha256;
}

namespace {

// By what the lock will say of images: the next command judges by it.
Result<RecordedVerdicts> verdicts_of(const Job& job, const Lock& lock) {
    const auto& [matrix, facts, judgement, locked] = job.input;
    if (lock.configurations == job.plan.lock.configurations)
        return diff::verdicts_to_record(matrix, judgement);
    const auto known = with_configurations(facts, lock);
    JudgeOptions as_of;
    as_of.today = job.settings.judged_on;
    as_of.on_progress = [&](const JudgingProgress&) { return !job.interrupted(); };
    CM_TRY_ASSIGN(const auto anew, judge_whole(matrix, known, as_of));
    return diff::verdicts_to_record(matrix, anew);
}

// Plans anew, with these decisions in place of the lock's.
Status plan_on(Job& job, const Taken& taken) {
    const auto command = job.plan.report.command;
    auto engine = std::pair(job.plan.report.engine, job.plan.report.engine_why);
    const bool gpu = job.plan.report.gpu;
    CM_TRY_ASSIGN(job.plan, make_plan(job.input, job.settings, command, &taken));
    std::tie(job.plan.report.engine, job.plan.report.engine_why) = std::move(engine);
    job.plan.report.gpu = gpu;
    return Done{};
}

// What a registry has of them is built on, the others are bootstrapped.
Result<RegistryBases> decide_bases(Job& job, const LockScope& scope, bool check, Taken& taken) {
    const auto undecided = undecided_bases(job, scope);
    if (undecided.empty()) return resolve_bases(job, scope, check);
    taken.bases.insert(undecided.begin(), undecided.end());
    CM_TRY(plan_on(job, taken));
    CM_TRY_ASSIGN(auto bases, resolve_bases(job, scope, check, undecided));
    if (bases.left.empty()) return bases;
    for (const auto& [reference, why] : bases.left) {
        taken.bases.erase(reference);
        job.progress.say(fmt::format("{} is not to be had, its distribution is bootstrapped: {}", reference,
                                     text::printable(why)));
    }
    CM_TRY(plan_on(job, taken));
    return bases;
}

}  // namespace

Result<LockWork> plan_lock(Job& job, const LockScope& scope, bool check) {
    CM_TRY(bases_stay_under_others(job.plan, scope));
    auto taken = taken_by(job.input.lock);
    CM_TRY(decide_snapshots(job, scope, taken.snapshots));
    // Which archive a base is asked about decides whether it can be an official image.
    if (taken.snapshots != job.plan.lock.snapshots) {
        CM_TRY(plan_on(job, taken));
    }
    CM_TRY_ASSIGN(auto bases, decide_bases(job, scope, check, taken));
    const auto& plan = job.plan;
    LockWork work;
    work.lock = plan.lock;
    work.lock.snapshots = std::move(taken.snapshots);
    if (job.input.matrix.build.snapshot != "auto") work.lock.snapshots.clear();
    work.scope = scope;
    work.findings = std::move(bases.findings);
    work.unreached = std::move(bases.unreached);
    for (auto& [reference, base] : bases.references)
        work.lock.references[reference] = std::move(base);
    for (const auto& reference : bases.outdated)
        work.lock.configurations.erase(reference);
    for (auto& [reference, configuration] : bases.configurations)
        work.lock.configurations[reference] = std::move(configuration);
    // `run` pins what is missing; it accepts no verdict that moved.
    if (check || !work.lock.verdicts) {
        CM_TRY_ASSIGN(auto verdicts, verdicts_of(job, work.lock));
        work.lock.verdicts = to_record(job, std::move(verdicts));
    }
    for (const auto& image : plan.images) {
        if (!plan.is_chosen(image)) continue;
        const auto needs = image.references();
        if (std::ranges::any_of(
                needs, [&](const std::string& reference) { return bases.out_of_reach.contains(reference); }))
            continue;
        const bool moves = scope.apt(image.id) || scope.wheels(image.id) ||
                           (scope.bases() && image.references().empty()) ||
                           (!image.references().empty() && !same_base(image, plan.lock, work.lock));
        if (moves || !plan.lock.covers(image)) work.images.push_back(&image);
    }
    return work;
}

}  // namespace cudamatrix::job
