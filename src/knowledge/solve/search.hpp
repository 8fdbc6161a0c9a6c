// Finds combinations of values that are good enough. What the rules say against the values that were chosen
// is taken from the other variables at once (forward checking), and a variable with one value left counts as
// chosen. Where one has none left, the few choices that are to blame are looked for among all that the rules
// say against it; the search goes back to the last of them (conflict-directed backjumping, Prosser 1993) and
// remembers them, so that they are not chosen together again.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "knowledge/solve/bits.hpp"
#include "knowledge/solve/rows.hpp"
#include "knowledge/solve/rule_cache.hpp"

namespace cudamatrix::solve {

/// All values of all variables.
[[nodiscard]] Domains everything(const std::vector<Variable>& variables);

class Search {
  public:
    /// Whether what a rule says of the assignment will do; those of variables that it does not read mean
    /// nothing. Where a variable is not assigned (kUnassigned), no may be said only if no value of it could
    /// make it yes.
    using Allows = std::function<bool(std::size_t rule, const Assignment& assignment)>;

    /// Told what a search that finds nothing rests on: the rule that does not allow the assignment; those of
    /// variables that it was not asked of are unassigned.
    using OnBlamed = std::function<void(std::size_t rule, const Assignment& assignment)>;

    /// `order`: the variables, the most important first; those that it does not name do not matter. Empty: as
    /// they stand.
    Search(RuleCache& cache, Domains domains, Allows allows, std::vector<std::size_t> order = {});
    /// What every rule finds `worst` or better is allowed.
    Search(RuleCache& cache, Domains domains, Verdict worst, std::vector<std::size_t> order = {});

    /// The first combination that every rule allows: that with the first value of the first variable in the
    /// order that has any, of those the one with the first value of the second, and so on.
    [[nodiscard]] std::optional<Assignment> first();
    /// The same within a budget of values that several searches share: what is left of it comes back.
    [[nodiscard]] std::optional<Assignment> first(std::uint64_t& budget);
    /// Any combination that every rule allows, which is found sooner.
    [[nodiscard]] std::optional<Assignment> any(const OnBlamed& blamed = {});

    /// Leaves only `values` of a variable, a part of those that it has. What was learned stays true.
    void narrow(std::size_t variable, std::vector<std::uint32_t> values);
    /// Of this rule only what it finds `worst` or better is allowed, which is better than of the others. What
    /// was learned stays true.
    void demand(std::size_t rule, Verdict worst);
    /// Only these rules are asked (by rule), a part of those that were. What was learned is forgotten.
    void ask_only(std::vector<bool> rules);

    /// Values that are tried at most, over all calls; beyond that it finds nothing.
    void set_budget(std::uint64_t steps) { budget_ = steps; }
    /// What is left of it; 0: it may have missed something.
    [[nodiscard]] std::uint64_t budget() const { return budget_; }

  private:
    static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

    /// What the search knows at one point.
    struct State {
        std::vector<Bits> left;            ///< by variable: the values that nothing speaks against
        Assignment values;                 ///< of those that are chosen or have one left
        std::vector<std::size_t> settled;  ///< by variable: as how manieth; kNever: it is open
        std::vector<bool> chosen;          ///< by variable: not implied by others
        std::size_t count = 0;             ///< that are settled
    };
    /// Combinations of values of these variables that no values of the others complete.
    struct Learned {
        std::vector<std::size_t> variables;
        /// By variable of the list: of the values of the others those of the variable.
        std::vector<std::unordered_map<std::u32string, Bits>> values;
    };
    /// What speaks against values of a variable.
    struct Reason {
        Bits values;  ///< those that it speaks against
        Bits others;  ///< the variables that it rests on
        std::size_t check = kNever;
    };

    void start(std::vector<std::size_t> order);
    std::optional<Assignment> solve(std::vector<std::pair<std::size_t, std::uint32_t>> fixed,
                                    std::size_t goal);
    bool look_at_each(std::vector<std::size_t>& singles);
    bool walk();
    [[nodiscard]] std::size_t next_variable() const;
    [[nodiscard]] std::vector<std::uint32_t> next_values(std::size_t variable) const;
    [[nodiscard]] bool may_go_on();

    // Consequences: false where a variable has no value left, which is then `emptied_`.
    bool choose(std::size_t variable, std::uint32_t value);
    bool propagate(std::vector<std::size_t> singles);
    bool look_from(std::size_t variable, std::vector<std::size_t>& singles);
    bool take_from(std::size_t variable, const Bits& keep, std::vector<std::size_t>& singles);
    [[nodiscard]] bool is_asked(std::size_t rule) const {
        return (rules_.empty() || rules_[rule]) && rows_->worst_of(rule) > worst_for(rule);
    }
    [[nodiscard]] Verdict worst_for(std::size_t rule) const {
        return demands_.empty() ? worst_ : demands_[rule];
    }
    [[nodiscard]] std::size_t only_open(const std::vector<std::size_t>& variables) const;

    // Who is to blame (search_blame.cpp).
    [[nodiscard]] Bits blame_for(std::size_t variable, Bits values);
    [[nodiscard]] Bits reason_for(std::size_t variable, Bits values, std::size_t before);
    void add_reasons(std::size_t variable, const Bits& values, std::size_t before, std::vector<Reason>& out);
    void add_reason(std::size_t check, std::size_t variable, std::size_t value, std::size_t first,
                    std::vector<Reason>& out);
    void tell(const Reason& reason, std::size_t variable, const Bits& values) const;
    [[nodiscard]] bool all_before(const std::vector<std::size_t>& variables, std::size_t variable,
                                  std::size_t before) const;
    void learn(const Bits& blame);
    [[nodiscard]] std::u32string key_of(const std::vector<std::size_t>& variables, std::size_t without) const;

    RuleCache& cache_;
    std::shared_ptr<Rows> rows_;
    Verdict worst_;
    std::vector<Verdict> demands_;  ///< by rule: the worst that is allowed; empty: of all the same
    Domains domains_;
    std::vector<std::size_t> order_;
    std::vector<bool> rules_;  ///< by rule: whether it is asked; empty: all are
    std::vector<Bits> whole_;  ///< by variable: its domain
    Bits single_;              ///< variables of one value: no other could be chosen
    std::vector<Learned> learned_;
    std::vector<std::vector<std::size_t>> learned_of_;  ///< by variable
    std::vector<std::uint64_t> trouble_;                ///< by variable: how often it was to blame
    std::vector<std::pair<std::size_t, std::uint32_t>> fixed_;
    std::size_t goal_ = kNever;  ///< chosen behind those that are fixed, its values in their order
    State state_;
    std::size_t emptied_ = 0;
    OnBlamed blamed_;
    Bits blame_;  ///< of the last branch that failed
    std::uint64_t budget_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace cudamatrix::solve
