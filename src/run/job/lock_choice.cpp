// What a choice of images means for the lock: pins and verdicts of all others stay.
#include "base/text.hpp"
#include "knowledge/facts/images.hpp"
#include "run/job/lock.hpp"

namespace cudamatrix::job {

std::set<std::string_view> chosen_cells(const Plan& plan) {
    std::set<std::string_view> ids;
    for (const auto& cell : plan.report.cells) {
        if (cell.chosen) ids.insert(cell.cell);
    }
    return ids;
}

TakenBases undecided_bases(const Job& job, const LockScope& scope) {
    TakenBases undecided;
    if (job.input.matrix.build.base_from != "auto") return undecided;
    TakenBases decided;
    for (const auto& image : job.plan.images) {
        if (!image.references().empty()) continue;
        const auto official = lookup::distribution_image(job.input.facts, image.os, image.arch);
        if (official.empty()) continue;
        const bool asks =
            job.plan.is_chosen(image) && (scope.bases() || job.plan.lock.base(image) == nullptr);
        (asks ? undecided : decided).insert(official);
    }
    // One image of it for all machines: it is not taken from those that have their base.
    for (const auto& official : decided)
        undecided.erase(official);
    return undecided;
}

RecordedVerdicts to_record(const Job& job, RecordedVerdicts now) {
    if (!job.settings.choice.narrows()) return now;
    auto recorded = job.plan.lock.verdicts.value_or(RecordedVerdicts{});
    for (const auto id : chosen_cells(job.plan)) {
        if (const auto verdict = now.find(id); verdict != now.end())
            recorded.insert_or_assign(verdict->first, verdict->second);
    }
    return recorded;
}

Status bases_stay_under_others(const Plan& plan, const LockScope& scope) {
    std::map<std::string, std::string> others;  // by base: an image that is not chosen and has pins on it
    for (const auto& image : plan.images) {
        if (plan.is_chosen(image) || plan.lock.pins(image) == nullptr) continue;
        for (auto& reference : image.references())
            others.emplace(std::move(reference), image.id);
        if (image.references().empty()) others.emplace(image.base_name(), image.id);
    }
    for (const auto& image : plan.images) {
        if (!plan.is_chosen(image)) continue;
        std::vector<std::string> moves;
        for (auto& reference : image.references()) {
            if (scope.reference(reference)) moves.push_back(std::move(reference));
        }
        if (image.references().empty() && scope.bases()) moves.push_back(image.base_name());
        for (const auto& base : moves) {
            if (const auto other = others.find(base); other != others.end())
                return input_failure(
                    fmt::format("--update moves {}, the base of {} and of {}, which is not chosen", base,
                                image.id, other->second),
                    "choose both, or move apt and wheels only: --update=apt,wheels");
        }
    }
    return Done{};
}

}  // namespace cudamatrix::job
