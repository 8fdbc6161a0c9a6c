#include "knowledge/solve/nearest.hpp"

#include <algorithm>
#include <deque>

#include "knowledge/judge/evaluate.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/solve/around.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::solve {
namespace {

// The values around a cell, and those that the fixes of its findings lead to.
class Learning {
  public:
    Learning(const Facts& facts, const std::string& today, const Cell& cell, const Setting& setting)
        : facts_(facts), today_(today), setting_(setting), slots_(slots_around(facts, cell)) {
        // The fix of a finding may meet a second one, whose fix leads on.
        learn(cell, 2);
        std::stable_sort(slots_.begin(), slots_.end(),
                         [](const Slot& a, const Slot& b) { return ease(a.field) < ease(b.field); });
    }

    [[nodiscard]] std::vector<Slot> take() && { return std::move(slots_); }

  private:
    void learn(const Cell& cell, int depth) {
        const auto learn_of = [&](const rules::Rule& rule) {
            if (!rules::applies(rule, cell)) return;
            for (const auto& finding : rules::evaluate(rule, cell, facts_, today_)) {
                if (finding.verdict() <= kGoodEnough) continue;
                for (const auto& option : finding.fixes)
                    follow(cell, option, depth);
            }
        };
        for (const auto& rule : rules::all_rules())
            learn_of(rule);
        for (const auto* rule : setting_.own)
            learn_of(*rule);
    }

    void follow(const Cell& cell, const FixOption& option, int depth) {
        std::deque<Value> storage;
        auto changed = cell;
        for (const auto& [field, text] : option.set) {
            offer(slots_, field, text);
            auto value = value_from_text(field, text);
            if (std::holds_alternative<Value>(value))
                changed.set(field, &storage.emplace_back(std::get<Value>(std::move(value))));
        }
        if (depth > 1 && !storage.empty()) learn(changed, depth - 1);
    }

    const Facts& facts_;
    const std::string& today_;
    const Setting& setting_;
    std::vector<Slot> slots_;
};

class Stepping {
  public:
    Stepping(Oracle& oracle, Picks picks, std::size_t most)
        : oracle_(oracle), picks_(std::move(picks)), most_(most) {
        for (std::size_t rule = 0; rule < oracle_.size(); ++rule) {
            if (oracle_.verdict(rule, picks_) > kGoodEnough) against_.push_back(rule);
        }
    }

    Nearest run() {
        for (std::size_t steps = 1; !against_.empty() && steps <= kMostSteps && found_.empty(); ++steps) {
            // Another machine is the way out only where no other change of as many values is.
            for (const bool with_given : {false, true}) {
                if (found_.empty()) choose(steps, 0, with_given);
            }
        }
        return {std::move(found_), budget_ != 0};
    }

  private:
    // Every set of `left` more slots behind `from`; with `with_given` those that have a given one.
    void choose(std::size_t left, std::size_t from, bool with_given) {
        if (left == 0) {
            const bool has_given = std::any_of(changed_.begin(), changed_.end(), [&](std::size_t slot) {
                return is_given(oracle_.slots()[slot].field);
            });
            if (has_given == with_given) attempt();
            return;
        }
        for (std::size_t slot = from; slot < picks_.size() && found_.size() < most_ && budget_ != 0; ++slot) {
            if (oracle_.slots()[slot].values.size() < 2) continue;
            changed_.push_back(slot);
            choose(left - 1, slot + 1, with_given);
            changed_.pop_back();
        }
    }

    void attempt() {
        const auto is_touched = [&](std::size_t rule) {
            const auto& reads = oracle_.reads(rule);
            return std::any_of(changed_.begin(), changed_.end(), [&](std::size_t slot) {
                return std::find(reads.begin(), reads.end(), slot) != reads.end();
            });
        };
        if (!std::all_of(against_.begin(), against_.end(), is_touched)) return;
        Domains domains;
        for (std::size_t slot = 0; slot < picks_.size(); ++slot)
            domains.push_back({picks_[slot]});
        for (const auto slot : changed_)
            domains[slot] = others(oracle_.slots()[slot], picks_[slot]);
        auto picks = first(domains, Verdict::accepted);
        if (!picks) picks = first(domains, kGoodEnough);
        if (picks) keep(*picks);
    }

    std::optional<Picks> first(const Domains& domains, Verdict worst) {
        return prefer_kept(oracle_.slots(), domains, [&](const Domains& some) {
            Search search(oracle_, some, worst);
            search.set_budget(budget_);
            auto picks = search.first();
            budget_ = search.budget();
            return picks;
        });
    }

    void keep(const Picks& picks) {
        Neighbour out{{}, stack_of(oracle_, picks)};
        for (const auto slot : changed_) {
            const auto& about = oracle_.slots()[slot];
            const auto text_of = [&](std::uint32_t value) {
                return about.values[value] ? about.values[value]->text : std::string("nothing");
            };
            out.steps.push_back({std::string(about.name()), text_of(picks_[slot]), text_of(picks[slot])});
        }
        found_.push_back(std::move(out));
    }

    Oracle& oracle_;
    Picks picks_;
    std::size_t most_;
    std::vector<std::size_t> against_;
    std::vector<std::size_t> changed_;
    std::vector<Neighbour> found_;
    std::uint64_t budget_ = kMostTried;
};

}  // namespace

Nearest nearest(const Facts& facts, const std::string& today, const Cell& cell, const Setting& setting,
                std::size_t most) {
    auto slots = Learning(facts, today, cell, setting).take();
    auto picks = picks_of(slots, cell);
    Oracle oracle(facts, today, std::move(slots), setting);
    return Stepping(oracle, std::move(picks), most).run();
}

}  // namespace cudamatrix::solve
