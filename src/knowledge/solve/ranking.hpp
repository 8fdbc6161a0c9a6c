// Which of the stacks that meet a query stand first, and why: what installs from wheels, then the newest
// packages that were asked for, the newest torch, the fewest limits, branches that are still repaired.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "knowledge/solve/search.hpp"

namespace cudamatrix::solve {

struct Ranked {
    Assignment values;
    bool builds = false;             ///< something of it is built from its source
    std::size_t limits = 0;          ///< rules that find it degraded
    std::vector<std::string> ended;  ///< what is past its end of life: "driver 550"
};

class Ranking {
  public:
    /// One stack for each build of torch in `domains` (for each toolkit where no torch is wanted).
    Ranking(RuleCache& cache, Domains domains);

    /// The next ones, best first, all with the same packages and the same release of torch; none: that was
    /// all.
    [[nodiscard]] std::vector<Ranked> next();

    /// Why `better` stands before `other`.
    [[nodiscard]] std::string difference(const Ranked& better, const Ranked& other) const;
    /// What makes it the first.
    [[nodiscard]] std::string merits(const Ranked& first) const;

  private:
    [[nodiscard]] Search search(bool builds) const;
    [[nodiscard]] std::optional<Assignment> next_build();
    [[nodiscard]] Ranked refined(const Assignment& found);
    [[nodiscard]] std::vector<std::size_t> limits_of(const Assignment& values) const;
    [[nodiscard]] bool has_ended(std::size_t variable, std::uint32_t value);
    [[nodiscard]] bool same_release(const Assignment& a, const Assignment& b) const;
    [[nodiscard]] std::string text(const Ranked& stack, std::size_t variable) const;

    RuleCache& cache_;
    Domains domains_;
    std::size_t group_;  ///< the variable of which every value stands once
    std::vector<std::size_t> packages_;
    std::vector<std::size_t> order_;
    std::vector<bool> source_rules_;       ///< by rule: degraded, it says that something is built
    std::optional<std::size_t> end_rule_;  ///< that says what is past its end of life
    std::vector<std::vector<std::optional<bool>>> ended_;  ///< by variable and value
    bool builds_ = false;                                  ///< what installs from wheels is exhausted
    std::optional<Search> search_;
    std::optional<Assignment> pending_;
};

}  // namespace cudamatrix::solve
