// The questions that a search asks of the rules, and the answers for all values of one variable at once. A
// rule that answers without looking at a variable has answered for all values of it: it is asked once for
// each combination of what it looks at, and only that is to blame for its no.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "knowledge/solve/bits.hpp"
#include "knowledge/solve/rule_cache.hpp"

namespace cudamatrix::solve {

/// A question that can be asked as soon as all of its variables have values. A rule whose fields add up is
/// asked of each package and each pair of them, with and without the other such fields: what it says against
/// a part it says against the whole, and the smaller the part, the more is learned from a no.
struct Check {
    std::size_t rule = 0;
    std::vector<std::size_t> variables;  ///< what its answer rests on; none of the others has a value
    /// Of each of these one must have a value, or the rule does not fire.
    std::vector<std::vector<std::size_t>> needs;
};

class Rows {
  public:
    /// What a rule says of the values that the assignment has (kUnassigned: of the variable it has none), and
    /// what it looked at: its answer is the same for all that agrees in that.
    using Answer = std::function<Verdict(std::size_t rule, const Assignment& assignment,
                                         std::vector<RuleCache::Look>& looks)>;

    /// `cache` lives longer; its variables and rules are meant. `of_cache`: the answers
    /// are those of the rules themselves, which do not fire where they lack what they need, and know GPUs by
    /// their facts alone; else nothing is taken for granted.
    Rows(RuleCache& cache, Answer answer, bool of_cache);

    [[nodiscard]] const std::vector<Check>& checks() const { return checks_; }
    /// Those that read the variable, what rests on less first.
    [[nodiscard]] const std::vector<std::size_t>& checks_of(std::size_t variable) const {
        return by_variable_[variable];
    }

    /// No answer of the rule is worse.
    [[nodiscard]] Verdict worst_of(std::size_t rule) const { return worst_of_[rule]; }
    /// By GPU the first that no rule tells apart from it; empty where that is not known.
    [[nodiscard]] const std::vector<std::uint32_t>& same_gpus() const { return same_to_all_; }

    /// What the last search found: another one is often met by much of it.
    [[nodiscard]] const Assignment& found() const { return found_; }
    void set_found(const Assignment& found) { found_ = found; }

    /// Of the values `wanted` of `variable` those that the check finds `worst` or better beside the values
    /// that `assignment` has for its other variables; what it says of other values means nothing. Valid until
    /// the next call.
    [[nodiscard]] const Bits& allowed(std::size_t check, std::size_t variable, const Assignment& assignment,
                                      const Bits& wanted, Verdict worst);

    /// Adds to `others` what the answer for that value of the variable rests on.
    void add_looks(std::size_t check, std::size_t variable, std::uint32_t value, const Assignment& assignment,
                   Bits& others);

  private:
    /// An answer, or where to go on by the value of a variable.
    struct Node {
        RuleCache::Look look{};
        std::uint32_t first = 0;          ///< the value that `next` begins with
        std::vector<std::uint32_t> next;  ///< by value: a node, an answer, or 0: not asked

        [[nodiscard]] std::uint32_t at(std::uint32_t value) const {
            return value >= first && value - first < next.size() ? next[value - first] : 0;
        }
        void set(std::uint32_t value, std::uint32_t entry);
    };
    struct Row {
        Bits known;
        std::array<Bits, 3> good;  ///< by the worst verdict that is good enough
    };
    void compare_gpus();
    void add_checks(std::size_t rule);
    void add_checks(std::size_t rule, const std::vector<std::size_t>& left_out);
    void add_check(std::size_t rule, const std::vector<std::size_t>& left_out);
    [[nodiscard]] Verdict find(std::size_t check, const Assignment& assignment, Bits* others);
    std::uint32_t ask(std::size_t check, const Assignment& assignment);
    [[nodiscard]] bool is_on_way(std::size_t check, const Assignment& assignment,
                                 const RuleCache::Look& look) const;
    [[nodiscard]] std::uint32_t place(std::size_t check, const RuleCache::Look& look,
                                      const Assignment& assignment) const;
    [[nodiscard]] bool applies(std::size_t check, const Assignment& assignment) const;
    [[nodiscard]] std::uint32_t same(std::size_t rule, std::size_t variable, std::uint32_t value) const {
        const bool is_gpu = !same_gpus_.empty() && variable == cache_.gpu_variable();
        return is_gpu && !same_gpus_[rule].empty() ? same_gpus_[rule][value] : value;
    }
    void put(std::size_t check, const Assignment& assignment);
    void fill(Row& row, std::size_t check, std::size_t variable, const Assignment& assignment,
              const Bits& wanted);

    RuleCache& cache_;
    Answer answer_;
    std::vector<Check> checks_;
    std::vector<std::vector<std::size_t>> by_variable_;
    std::vector<std::unordered_map<std::u32string, Row>> rows_;  ///< by check
    std::vector<std::vector<Node>> trees_;  ///< by check; the first node leads to the second
    std::vector<RuleCache::Look> looks_;
    std::vector<std::vector<std::uint32_t>> same_gpus_;  ///< by rule; empty: each has its own answer
    std::vector<std::uint32_t> same_to_all_;
    std::vector<Verdict> worst_of_;  ///< by rule
    bool of_cache_;
    Assignment asked_;
    Assignment found_;
};

}  // namespace cudamatrix::solve
