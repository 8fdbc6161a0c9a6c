// The smallest changes of constraints after which something meets them all.
#include <algorithm>
#include <numeric>
#include <utility>

#include "knowledge/solve/conflict.hpp"

namespace cudamatrix::solve {
namespace {

ConstraintSet without(std::size_t count, const ConstraintSet& left_out) {
    ConstraintSet out;
    for (std::size_t i = 0; i < count; ++i) {
        if (!std::binary_search(left_out.begin(), left_out.end(), i)) out.push_back(i);
    }
    return out;
}

// The smallest changes of the constraints in `set`, each in its direction, found one constraint after the
// other.
class Relaxing {
  public:
    Relaxing(const Problem& problem, const ConstraintSet& set, const std::vector<bool>& newer,
             std::uint64_t& budget)
        : problem_(problem),
          set_(set),
          newer_(newer),
          budget_(budget),
          domains_(domains_of(problem, without(problem.constraints.size(), set))) {
        for (std::size_t i = 0; i < set.size(); ++i) {
            const auto& constraint = problem.constraints[set[i]];
            values_.push_back(
                nearest_values(problem.cache.variables()[constraint.variable], constraint, newer[i]));
            domains_[constraint.variable] = values_.back();
        }
        kept_ = without_yanked(problem.cache.variables(), domains_);
    }

    /// The constraint that stands first in `order` changes least, then the next; nothing where no change
    /// helps.
    std::optional<Relaxation> smallest(const std::vector<std::size_t>& order) const {
        if (std::any_of(values_.begin(), values_.end(), [](const auto& list) { return list.empty(); }))
            return std::nullopt;
        std::vector<std::size_t> variables;
        for (const auto i : order)
            variables.push_back(problem_.constraints[set_[i]].variable);
        // A release that was yanked is no way out where there is another.
        auto domains = kept_;
        auto least = first(domains, kGoodEnough, variables);
        if (!least && budget_ != 0 && kept_ != domains_) {
            domains = domains_;
            least = first(domains, kGoodEnough, variables);
        }
        if (!least) return std::nullopt;
        for (const auto variable : variables)
            domains[variable] = {(*least)[variable]};
        Relaxation out;
        auto witness = first(domains, Verdict::accepted);
        if (!witness) witness = first(domains, kGoodEnough);
        if (!witness) return std::nullopt;  // the search was stopped
        out.witness = *std::move(witness);
        for (std::size_t i = 0; i < set_.size(); ++i)
            out.changes.push_back({set_[i], out.witness[problem_.constraints[set_[i]].variable], newer_[i]});
        return out;
    }

  private:
    std::optional<Assignment> first(const Domains& domains, Verdict worst,
                                    std::vector<std::size_t> order = {}) const {
        return Search(problem_.cache, domains, worst, std::move(order)).first(budget_);
    }

    const Problem& problem_;
    const ConstraintSet& set_;
    const std::vector<bool>& newer_;
    std::uint64_t& budget_;
    Domains domains_;
    Domains kept_;  // of domains_, without what was yanked
    std::vector<std::vector<std::uint32_t>> values_;
};

bool is_same(const Relaxation& a, const Relaxation& b) {
    return std::equal(
        a.changes.begin(), a.changes.end(), b.changes.begin(), b.changes.end(),
        [](const Change& x, const Change& y) { return x.constraint == y.constraint && x.value == y.value; });
}

}  // namespace

std::vector<std::uint32_t> nearest_values(const Variable& variable, const Constraint& constraint,
                                          bool newer) {
    std::vector<std::uint32_t> out;
    const auto newest = constraint.allowed.empty() ? 0u : constraint.allowed.front();
    if (newer && !variable.ordered) return out;
    for (std::uint32_t value = 0; value < variable.values.size(); ++value) {
        if (!variable.values[value] && variable.package.empty()) continue;
        const bool is_newer = variable.ordered && value < newest;
        if (is_newer == newer &&
            !std::binary_search(constraint.allowed.begin(), constraint.allowed.end(), value))
            out.push_back(value);
    }
    // The newest value has the smallest index.
    if (newer) std::reverse(out.begin(), out.end());
    return out;
}

// Each constraint is once the one that changes least.
void relax(const Problem& problem, const ConstraintSet& set, std::uint64_t& budget, Conflicts& out) {
    for (std::uint32_t directions = 0; directions < (1u << set.size()); ++directions) {
        std::vector<bool> newer(set.size());
        for (std::size_t i = 0; i < set.size(); ++i)
            newer[i] = (directions >> i & 1u) == 0;
        const Relaxing relaxing(problem, set, newer, budget);
        std::vector<std::size_t> order(set.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (std::size_t first = 0; first < set.size(); ++first) {
            auto found = relaxing.smallest(order);
            if (budget == 0) {
                out.all_relaxations = false;
                return;
            }
            std::rotate(order.begin(), order.begin() + 1, order.end());
            if (!found) break;
            if (std::any_of(out.relaxations.begin(), out.relaxations.end(),
                            [&](const Relaxation& known) { return is_same(known, *found); }))
                continue;
            if (out.relaxations.size() == kMostRelaxations) {
                out.all_relaxations = false;
                return;
            }
            out.relaxations.push_back(*std::move(found));
        }
    }
}

}  // namespace cudamatrix::solve
