#include "knowledge/solve/explain.hpp"

#include <algorithm>
#include <deque>

#include "knowledge/judge/evaluate.hpp"
#include "knowledge/rules/rule.hpp"
#include "knowledge/solve/variable.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::solve {
namespace {

// The values around a cell, and those that the fixes of its findings lead to.
class Learning {
  public:
    Learning(const Facts& facts, const std::string& today, const Cell& cell, const Setting& setting)
        : facts_(facts), today_(today), setting_(setting), variables_(neighbourhood(facts, cell)) {
        // The fix of a finding may meet a second one, whose fix leads on.
        learn(cell, 2);
        std::stable_sort(variables_.begin(), variables_.end(), [](const Variable& a, const Variable& b) {
            return change_cost(a.field) < change_cost(b.field);
        });
    }

    [[nodiscard]] std::vector<Variable> take() && { return std::move(variables_); }

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
            offer(variables_, field, text);
            auto value = value_from_text(field, text);
            if (std::holds_alternative<Value>(value))
                changed.set(field, &storage.emplace_back(std::get<Value>(std::move(value))));
        }
        if (depth > 1 && !storage.empty()) learn(changed, depth - 1);
    }

    const Facts& facts_;
    const std::string& today_;
    const Setting& setting_;
    std::vector<Variable> variables_;
};

class Stepping {
  public:
    Stepping(RuleCache& cache, Assignment assignment, std::size_t most)
        : cache_(cache), assignment_(std::move(assignment)), most_(most) {
        for (std::size_t rule = 0; rule < cache_.size(); ++rule) {
            if (cache_.verdict(rule, assignment_) > kGoodEnough) against_.push_back(rule);
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
    // Every set of `left` more variables behind `from`; with `with_given` those that have a given one.
    void choose(std::size_t left, std::size_t from, bool with_given) {
        if (left == 0) {
            const bool has_given = std::any_of(changed_.begin(), changed_.end(), [&](std::size_t variable) {
                return is_given(cache_.variables()[variable].field);
            });
            if (has_given == with_given) attempt();
            return;
        }
        for (std::size_t variable = from;
             variable < assignment_.size() && found_.size() < most_ && budget_ != 0; ++variable) {
            if (cache_.variables()[variable].values.size() < 2) continue;
            changed_.push_back(variable);
            choose(left - 1, variable + 1, with_given);
            changed_.pop_back();
        }
    }

    void attempt() {
        const auto is_touched = [&](std::size_t rule) {
            const auto& reads = cache_.reads(rule);
            return std::any_of(changed_.begin(), changed_.end(), [&](std::size_t variable) {
                return std::find(reads.begin(), reads.end(), variable) != reads.end();
            });
        };
        if (!std::all_of(against_.begin(), against_.end(), is_touched)) return;
        Domains domains;
        for (std::size_t variable = 0; variable < assignment_.size(); ++variable)
            domains.push_back({assignment_[variable]});
        for (const auto variable : changed_)
            domains[variable] = others(cache_.variables()[variable], assignment_[variable]);
        auto assignment = first(domains, Verdict::accepted);
        if (!assignment) assignment = first(domains, kGoodEnough);
        if (assignment) keep(*assignment);
    }

    std::optional<Assignment> first(const Domains& domains, Verdict worst) {
        return prefer_kept(cache_.variables(), domains,
                           [&](const Domains& some) { return Search(cache_, some, worst).first(budget_); });
    }

    void keep(const Assignment& assignment) {
        Neighbour out{{}, stack_of(cache_, assignment)};
        for (const auto variable : changed_) {
            const auto& about = cache_.variables()[variable];
            const auto text_of = [&](std::uint32_t value) {
                return about.values[value] ? about.values[value]->text : std::string("nothing");
            };
            out.steps.push_back(
                {std::string(about.name()), text_of(assignment_[variable]), text_of(assignment[variable])});
        }
        found_.push_back(std::move(out));
    }

    RuleCache& cache_;
    Assignment assignment_;
    std::size_t most_;
    std::vector<std::size_t> against_;
    std::vector<std::size_t> changed_;
    std::vector<Neighbour> found_;
    std::uint64_t budget_ = kMostTried;
};

}  // namespace

Nearest nearest(const Facts& facts, const std::string& today, const Cell& cell, const Setting& setting,
                std::size_t most) {
    auto variables = Learning(facts, today, cell, setting).take();
    auto assignment = assignment_of(variables, cell);
    RuleCache cache(facts, today, std::move(variables), setting);
    cache.set_most_questions(kMostAsked);
    return Stepping(cache, std::move(assignment), most).run();
}

}  // namespace cudamatrix::solve
