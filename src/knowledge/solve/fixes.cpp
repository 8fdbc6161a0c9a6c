#include "knowledge/solve/fixes.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "knowledge/judge/own_rules.hpp"
#include "knowledge/solve/variable.hpp"

namespace cudamatrix::solve {
namespace {

// The ways out of one finding.
class WaysOut {
  public:
    WaysOut(Repair& repair, const Finding& finding, std::uint64_t& budget, FixTally& tally)
        : repair_(repair), finding_(finding), budget_(budget), tally_(tally) {
        repair_.look_at(finding);
        for (const auto& option : finding.fixes) {
            if (option.set.empty()) continue;
            ++offered_;
            const auto assignment = repair_.after(option);
            if (assignment && *assignment != repair_.present() && repair_.works(*assignment)) {
                keep(option, *assignment);
                ++kept_;
            } else if (assignment) {
                broken_.push_back({&option, *assignment});
            }
        }
    }

    /// Whether all that the rule offers works, and it offers something where something is needed.
    [[nodiscard]] bool is_enough() {
        return kept_ == offered_ && (kept_ != 0 || !is_urgent()) &&
               std::none_of(seen_.begin(), seen_.end(),
                            [&](const Assignment& assignment) { return repair_.is_refused(assignment); });
    }

    std::vector<FixOption> search() {
        improve();
        replace();
        if (found_.empty()) complete();
        if (found_.empty() && is_urgent()) look_around();
        return take();
    }

    std::vector<FixOption> take() {
        mark_refused();
        tally_.offered += offered_;
        tally_.kept += kept_;
        tally_.dropped += offered_ - std::min(offered_, kept_ + repaired_);
        return std::move(found_);
    }

  private:
    struct Broken {
        const FixOption* option;
        Assignment assignment;
    };

    [[nodiscard]] bool is_urgent() const { return finding_.verdict() == Verdict::rejected; }

    // What another rule refuses as well is worth a word only where nothing better is known, and says so.
    void mark_refused() {
        std::vector<FixOption> good;
        for (std::size_t i = 0; i < found_.size(); ++i) {
            if (!repair_.is_refused(seen_[i])) good.push_back(found_[i]);
        }
        if (good.empty()) {
            for (auto& option : found_)
                option.text += kNotEnough;
        } else {
            found_ = std::move(good);
        }
    }

    void keep(FixOption option, const Assignment& assignment) {
        if (std::find(seen_.begin(), seen_.end(), assignment) != seen_.end()) return;
        seen_.push_back(assignment);
        found_.push_back(std::move(option));
    }

    [[nodiscard]] std::vector<std::size_t> changed(const Assignment& assignment) const {
        std::vector<std::size_t> out;
        for (std::size_t variable = 0; variable < assignment.size(); ++variable) {
            if (assignment[variable] != repair_.present()[variable]) out.push_back(variable);
        }
        return out;
    }

    // A field that one of the ways out changes alone.
    [[nodiscard]] bool is_served(std::size_t variable) const {
        return std::any_of(seen_.begin(), seen_.end(), [&](const Assignment& assignment) {
            return changed(assignment) == std::vector{variable};
        });
    }

    // The value nearest to one that takes the finding away, but not what other rules say of its field, that
    // does both.
    void improve() {
        for (std::size_t i = 0; i < found_.size(); ++i) {
            const auto changes = changed(seen_[i]);
            if (changes.size() != 1 || !repair_.is_refused(seen_[i])) continue;
            const auto variable = changes.front();
            auto other = seen_[i];
            for (const auto value : others(repair_.variables()[variable], seen_[i][variable])) {
                if (budget_ == 0) return;
                --budget_;
                other[variable] = value;
                if (!repair_.variables()[variable].values[value] || other == repair_.present() ||
                    std::find(seen_.begin(), seen_.end(), other) != seen_.end() || !repair_.works(other) ||
                    repair_.is_refused(other))
                    continue;
                found_[i] = repair_.option_of(other);
                seen_[i] = other;
                ++tally_.replaced;
                break;
            }
        }
    }

    // Another value of the one field that an option changes.
    void replace() {
        for (const auto& [option, assignment] : broken_) {
            const auto variables = changed(assignment);
            if (variables.size() != 1 || is_served(variables.front())) continue;
            const auto variable = variables.front();
            const bool is_floor = option->text.find(">=") != std::string::npos;
            auto domains = Repair::only(repair_.present());
            domains[variable] =
                repair_.values_of(variable, is_floor ? std::optional(assignment[variable]) : std::nullopt);
            if (const auto found = repair_.first(domains, budget_)) {
                auto text = is_floor
                                ? fmt::format("{} >= {}", repair_.variables()[variable].name(),
                                              repair_.variables()[variable].values[(*found)[variable]]->text)
                                : std::string();
                keep(repair_.option_of(*found, std::move(text), is_floor ? &*found : nullptr), *found);
                ++tally_.replaced;
                ++repaired_;
            }
        }
    }

    // An option with one more change.
    void complete() {
        for (const auto& [option, assignment] : broken_) {
            for (std::size_t variable = 0; variable < assignment.size(); ++variable) {
                const bool taken = assignment[variable] != repair_.present()[variable];
                if (taken || is_given(repair_.variables()[variable].field)) continue;
                auto domains = Repair::only(assignment);
                domains[variable] = repair_.values_of(variable);
                const auto found = repair_.first(domains, budget_);
                if (!found) continue;
                keep(repair_.option_of(*found, without_outcome(option->text), &assignment), *found);
                ++tally_.completed;
                ++repaired_;
                break;
            }
        }
    }

    // One field that the finding is about, else that one with another that the rule reads.
    void look_around() {
        std::vector<std::size_t> open;
        for (std::size_t variable = 0; variable < repair_.variables().size(); ++variable) {
            if (repair_.is_read(variable) && !is_given(repair_.variables()[variable].field))
                open.push_back(variable);
        }
        for (const auto variable : open)
            try_both(variable, variable);
        for (std::size_t a = 0; a < open.size() && found_.empty(); ++a) {
            for (std::size_t b = a + 1; b < open.size() && found_.empty(); ++b)
                try_both(open[a], open[b]);
        }
    }

    [[nodiscard]] bool is_about(std::size_t variable) const {
        const auto& about = finding_.about;
        return std::find(about.begin(), about.end(), repair_.variables()[variable].field) != about.end();
    }

    void try_both(std::size_t a, std::size_t b) {
        constexpr std::size_t most = 3;
        if (found_.size() == most || (!is_about(a) && !is_about(b))) return;
        auto domains = Repair::only(repair_.present());
        domains[a] = repair_.values_of(a);
        domains[b] = repair_.values_of(b);
        if (const auto found = repair_.first(domains, budget_)) {
            keep(repair_.option_of(*found), *found);
            ++tally_.searched;
        }
    }

    // "python 3.15 (then accepted)": of an open question; with a second change it may be another.
    static std::string without_outcome(const std::string& text) {
        return text.substr(0, text.find(" (then "));
    }

    Repair& repair_;
    const Finding& finding_;
    std::uint64_t& budget_;
    FixTally& tally_;
    std::vector<FixOption> found_;
    std::vector<Assignment> seen_;
    std::vector<Broken> broken_;
    std::uint64_t offered_ = 0, kept_ = 0, repaired_ = 0;
};

class Verifying {
  public:
    Verifying(const Matrix& matrix, const Facts& facts, const std::string& today,
              const OnProgress& on_progress)
        : facts_(facts), today_(today), own_(rules::own_rules(matrix)), setting_(setting_of(matrix, own_)) {
        setting_.on_progress = [this, on_progress](const JudgingProgress& progress) {
            if (on_progress && !on_progress(progress)) is_stopped_ = true;
            return !is_stopped_;
        };
    }

    void verify(const Cell& cell, const std::vector<Finding*>& findings) {
        // Most offers hold: the values that the facts know are gathered only where one does not.
        Repair offered(facts_, today_, cell, setting_, findings, false);
        std::vector<Finding*> open;
        for (auto* finding : findings) {
            WaysOut ways(offered, *finding, budget_, tally_);
            if (ways.is_enough()) {
                put(*finding, ways.take());
            } else {
                open.push_back(finding);
            }
        }
        if (open.empty()) return;
        Repair complete(facts_, today_, cell, setting_, open, true);
        for (auto* finding : open) {
            WaysOut ways(complete, *finding, budget_, tally_);
            put(*finding, budget_ == 0 ? ways.take() : ways.search());
        }
    }

    Result<FixTally> take() {
        if (is_stopped_) return Failure{ExitCode::interrupted, {}};
        tally_.complete = budget_ != 0;
        return tally_;
    }

  private:
    void put(Finding& finding, std::vector<FixOption> found) {
        if (found.empty() && finding.verdict() == Verdict::rejected) {
            ++tally_.without;
            // The rule's own answer takes this finding away; the next check names what is in its way.
            for (const auto& option : finding.fixes) {
                if (option.set.empty()) continue;
                found.push_back(option);
                found.back().text += kNotEnough;
            }
        }
        // To leave the combination out is the last resort.
        for (auto& option : finding.fixes) {
            if (option.set.empty()) found.push_back(std::move(option));
        }
        finding.fixes = std::move(found);
    }

    const Facts& facts_;
    const std::string& today_;
    std::vector<rules::Rule> own_;
    Setting setting_;
    bool is_stopped_ = false;
    std::uint64_t budget_ = kMostTriedForFixes;
    FixTally tally_;
};

}  // namespace

std::vector<std::size_t> cells_to_fix(const Judgement& judgement) {
    std::vector<std::size_t> out(judgement.findings.size(), judgement.cells.size());
    std::vector<std::size_t> obstacles(judgement.findings.size(), 0);
    for (std::size_t i = 0; i < judgement.cells.size(); ++i) {
        const auto& findings = judgement.cells[i].findings;
        const auto met = static_cast<std::size_t>(std::ranges::count_if(
            findings, [&](std::uint32_t id) { return judgement.findings[id].verdict() > kGoodEnough; }));
        for (const auto id : findings) {
            if (out[id] != judgement.cells.size() && obstacles[id] <= met) continue;
            out[id] = i;
            obstacles[id] = met;
        }
    }
    return out;
}

Result<FixTally> verify_fixes(const Matrix& matrix, const Facts& facts, const std::string& today,
                              Judgement& judgement, const OnProgress& on_progress) {
    Verifying verifying(matrix, facts, today, on_progress);
    const auto tried_on = cells_to_fix(judgement);
    std::map<std::size_t, std::vector<Finding*>> by_cell;
    for (std::size_t id = 0; id < judgement.findings.size(); ++id) {
        auto& group = judgement.findings[id];
        const bool counts =
            !group.waived && group.finding.severity != Severity::note && group.finding.rule != kWaiverExpired;
        if (counts && tried_on[id] != judgement.cells.size()) by_cell[tried_on[id]].push_back(&group.finding);
    }
    for (const auto& [cell, findings] : by_cell)
        verifying.verify(judgement.cells[cell].cell, findings);
    return verifying.take();
}

}  // namespace cudamatrix::solve
