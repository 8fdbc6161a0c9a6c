#include "advise/review/review.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "advise/upgrade/plans.hpp"
#include "base/text.hpp"
#include "knowledge/facts/images.hpp"
#include "knowledge/judge/judge.hpp"

namespace cudamatrix::review {
namespace {

constexpr int kWeek = 7;

// What ends soon, and what may vanish any day.
std::vector<Event> urgent(const std::vector<Event>& calendar, const std::string& today) {
    const auto last = days_later(today, kUrgentDays);
    std::vector<Event> out;
    for (const auto& event : calendar) {
        if (event.kind == EventKind::superseded || event.kind == EventKind::standard_end) continue;
        const bool is_deletable = event.kind == EventKind::deletion && is_past(event, today);
        const bool is_soon = !is_past(event, today) && event.day <= last.substr(0, event.day.size());
        if (is_deletable || is_soon) out.push_back(event);
    }
    return out;
}

// The first day on which something ends that has not yet; empty: all of it may vanish any day.
std::string deadline_of(const std::vector<Event>& events, const std::string& today) {
    std::string deadline;
    for (const auto& event : events) {
        if (is_past(event, today)) continue;
        const auto day = last_day_of(event.day);
        if (deadline.empty() || day < deadline) deadline = day;
    }
    return deadline;
}

const upgrade::Outcome* way_of(const Review& review, upgrade::Aim aim) {
    const auto found = std::ranges::find(review.ways, aim, &upgrade::Outcome::aim);
    return found == review.ways.end() ? nullptr : &*found;
}

// Research, preparation, staging, production: four weeks, or four equal parts of what is left.
EmergencyPlan plan_of(const Review& review, std::vector<Event> events, const std::string& matrix) {
    EmergencyPlan plan{std::move(events), {}, {}};
    plan.deadline = deadline_of(plan.because, review.today);
    const auto left = plan.deadline.empty() ? std::int64_t{4 * kWeek}
                                            : *day_number(plan.deadline) - *day_number(review.today);
    const auto length = static_cast<int>(std::clamp<std::int64_t>(left / 4, 1, kWeek));
    const auto* next = way_of(review, upgrade::Aim::next);
    const bool moves = next != nullptr && !next->steps.empty() && !next->source.empty();
    const std::string aim = moves ? "next" : "ambitious";
    PlanStep research{{},
                      {},
                      review.copies.empty() ? "Look at the alternatives"
                                            : "Look at the alternatives and keep what may vanish",
                      {},
                      {}};
    for (const auto& image : review.copies) {
        const auto from = lookup::image_reference(image.reference);
        const auto path = from.repository.substr(from.repository.find('/') + 1);
        research.commands.push_back({"skopeo", "copy", "--all",
                                     fmt::format("docker://{}:{}", from.repository, from.tag),
                                     fmt::format("docker://registry.example.org/{}:{}", path, from.tag)});
    }
    for (const auto& event : plan.because) {
        if (event.kind != EventKind::waiver_end) continue;
        research.tasks.push_back(fmt::format(
            "Decide on the {}: fix what it accepts, or extend it and say why. A check for the day after shows what fails without it.",
            event.subject));
        research.commands.push_back({"cudamatrix", "check", matrix, "--on", days_later(event.day, 1)});
    }
    if (!review.copies.empty())
        research.tasks.push_back(
            "Copy the images to your own registry (registry.example.org is a placeholder).");
    research.tasks.push_back(moves ? "Read what the next step changes, and try it in development."
                                   : "Every known step makes something worse: choose what to give up.");
    research.commands.push_back({"cudamatrix", "upgrade", matrix, "--to", aim});
    plan.steps.push_back(std::move(research));
    plan.steps.push_back({{},
                          {},
                          "Prepare the change",
                          {"Edit the matrix, pin and render it again, and open a pull request."},
                          {{"cudamatrix", "upgrade", matrix, "--to", aim, "--write"},
                           {"cudamatrix", "lock", matrix, "--update"},
                           {"cudamatrix", "render", matrix},
                           {"cudamatrix", "review", matrix, "--since", "HEAD", "--format", "github-pr"}}});
    plan.steps.push_back({{},
                          {},
                          "Prove it in staging",
                          {"Build the images and run the kernel suite on a machine with each kind of GPU."},
                          {{"cudamatrix", "run", matrix}}});
    plan.steps.push_back({{},
                          {},
                          "Bring it to production",
                          {"Deploy, watch, and review again."},
                          {{"cudamatrix", "review", matrix, "--since", "HEAD~1"}}});
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        plan.steps[i].from = days_later(review.today, static_cast<int>(i) * length);
        plan.steps[i].to = days_later(review.today, static_cast<int>(i + 1) * length - 1);
    }
    return plan;
}

// What the findings and the values rest on, where it was looked up long ago.
std::vector<FactRef> aged_facts(const Question& question, const Review& review) {
    std::vector<FactRef> out;
    std::set<std::string> seen;
    const auto look = [&](const FactRef& fact) {
        if (is_old(fact.as_of, question.today) && seen.insert(fact.id).second) out.push_back(fact);
    };
    for (const auto& group : question.judgement.findings)
        std::ranges::for_each(group.finding.facts, look);
    for (const auto& value : review.values) {
        if (value.fact) look(*value.fact);
    }
    std::ranges::stable_sort(out, {}, &FactRef::as_of);
    return out;
}

Result<std::vector<upgrade::Outcome>> ways_of(upgrade::Fleet& fleet, const Question& question) {
    std::vector<upgrade::Outcome> out;
    for (const auto aim : upgrade::kAims) {
        CM_TRY_ASSIGN(const auto plan, upgrade::plan_for(fleet, aim));
        if (fleet.is_stopped()) return rules::interrupted();
        CM_TRY_ASSIGN(auto outcome, upgrade::carried_out(fleet, plan, question.read, question.on_progress));
        out.push_back(std::move(outcome));
    }
    return out;
}

Result<diff::VerdictChanges> changes_by_itself(const Question& question, const std::string& horizon) {
    JudgeOptions as_of;
    as_of.today = horizon;
    as_of.on_progress = question.on_progress;
    CM_TRY_ASSIGN(const auto later, judge_whole(question.matrix, question.facts, as_of));
    return diff::compare_verdicts(diff::judged_verdicts(question.matrix, question.judgement),
                                  diff::judged_verdicts(question.matrix, later));
}

}  // namespace

Result<Review> review_of(const Question& question) {
    Review out;
    out.today = question.today;
    out.since = question.since;
    out.horizon = months_later(question.today, kMonthsAhead);
    out.values = values_in_use(question.judgement, question.facts, question.today);
    out.happened = events_between(out.values, question.facts, out.since, out.today);
    out.calendar = calendar(out.values, question.matrix, question.judgement, out.horizon);
    CM_TRY_ASSIGN(out.by_itself, changes_by_itself(question, out.horizon));
    upgrade::Fleet fleet(question.matrix, question.judgement, question.facts, question.today,
                         values_to_try(question.facts), question.on_progress);
    out.moves = moves_of(fleet, kMoves);
    out.requirements = requirements_of(fleet);
    if (fleet.is_stopped()) return rules::interrupted();
    CM_TRY_ASSIGN(out.ways, ways_of(fleet, question));
    out.chosen = chosen_values(question.judgement, question.facts, question.today);
    out.rejected = rejected_values(question.matrix, question.judgement);
    out.copies = images_to_copy(out.values);
    out.aged = aged_facts(question, out);
    if (auto events = urgent(out.calendar, out.today); !events.empty())
        out.emergency = plan_of(out, std::move(events), question.matrix.path);
    return out;
}

}  // namespace cudamatrix::review
