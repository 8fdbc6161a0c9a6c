// Walks the combinations of values that are good enough, best values first. A branch is left as soon as one
// rule that has all it reads speaks against it, and where nothing goes on, the walk goes back to the last
// value that had a part in that (conflict-directed backjumping, Prosser 1993). A rule whose fields add up is
// asked of each package and each pair of them, with and without the other such fields, as soon as they are
// assigned: what it says against a part it says against the whole, and the smaller the part, the more is
// learned. A rule that asks of the GPU only in which hosts it is speaks before one is assigned, where all
// kinds of hosts give the same answer.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

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
    /// Told of branches that are left, which together are all that there are: the rule that does not allow
    /// the assignment; those of variables that it does not read mean nothing, and of fields that add up only
    /// those are assigned that it was asked of.
    using OnClosed = std::function<void(std::size_t rule, const Assignment& assignment)>;

    /// `order`: the variables in the order in which they are tried, the first the slowest; empty: as they
    /// stand. Variables with one value come before all others.
    Search(RuleCache& cache, Domains domains, Allows allows, std::vector<std::size_t> order = {});
    /// What every rule finds `worst` or better is allowed.
    Search(RuleCache& cache, Domains domains, Verdict worst, std::vector<std::size_t> order = {});

    /// The first combination that every rule allows, in the order of the values.
    [[nodiscard]] std::optional<Assignment> first(const OnClosed& closed = {});

    /// Leaves only `values` of a variable, a part of those that it has. What was learned stays true.
    void narrow(std::size_t variable, std::vector<std::uint32_t> values) {
        domains_[variable] = std::move(values);
    }

    /// Values that are tried at most, over all calls of `first`; beyond that it finds nothing.
    void set_budget(std::uint64_t steps) { budget_ = steps; }
    /// What is left of it; 0: it may have missed something.
    [[nodiscard]] std::uint64_t budget() const { return budget_; }

  private:
    /// A question that can be asked as soon as all of its variables are assigned.
    struct Check {
        std::size_t rule = 0;
        std::vector<std::size_t> variables;  ///< what its answer rests on
        std::vector<std::size_t> left_out;   ///< what it is not asked of
        bool any_host = false;               ///< asked of a GPU of each kind of host: one yes opens
    };
    /// Combinations of values of these variables that no values of the others complete.
    struct Learned {
        std::vector<std::size_t> variables;
        std::unordered_set<std::u32string> values;
    };
    /// By depth: whether its pick had a part in a failure.
    using Blame = std::vector<bool>;

    void add_checks(std::size_t rule);
    void add_check(std::size_t rule, const std::vector<std::size_t>& left_out);
    void add_check(Check check);
    [[nodiscard]] bool is_open(const Check& check, const OnClosed& closed);
    bool walk(std::size_t depth, const OnClosed& closed);
    /// The variables whose values together end the branch; nullptr where it goes on.
    [[nodiscard]] const std::vector<std::size_t>* closing(std::size_t depth, const OnClosed& closed);
    void learn(const Blame& blame, std::size_t depth);
    [[nodiscard]] std::u32string key_of(const std::vector<std::size_t>& variables) const;
    [[nodiscard]] bool may_go_on();

    RuleCache& cache_;
    Domains domains_;
    Allows allows_;
    std::vector<std::size_t> order_;
    std::vector<std::size_t> place_;             ///< by variable: its depth
    std::vector<std::vector<Check>> checks_;     ///< by depth: those whose last variable is assigned there
    std::vector<std::vector<Learned>> learned_;  ///< by depth, in the same way
    std::vector<std::uint32_t> hosts_;           ///< a GPU of the domain for each kind of host
    Assignment assignment_;
    Blame blame_;  ///< of the last branch that failed
    std::uint64_t budget_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace cudamatrix::solve
