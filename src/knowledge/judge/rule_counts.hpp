// What the judge keeps beside verdicts: counts by rule, fields that rules lacked, own rules that match
// nothing (private to knowledge/judge).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/judge/evaluate.hpp"
#include "knowledge/judge/judge.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {

/// What an answer adds to the counts of its rule.
struct Tally {
    std::size_t line = 0;
    std::array<bool, kSeverityCount> severities{};
    bool waived = false;
    bool expired = false;  ///< a waiver that has ended would have covered it

    void add(std::size_t of_rule, Severity severity, bool is_waived);
    [[nodiscard]] bool empty() const;
};

class Counts {
  public:
    /// The line of the rule; own rules of one id share it.
    [[nodiscard]] std::size_t line_of(std::string_view rule);

    void begin_cell();
    /// One answer for the current cell.
    void add(const Tally& tally);

    /// Lines of rules that have something to say.
    [[nodiscard]] std::vector<RuleCount> take() &&;

  private:
    struct Line {
        RuleCount count;
        std::uint64_t cell = 0;  ///< the last cell that was counted here, and what of it
        Tally seen;
    };
    std::vector<Line> lines_;
    std::uint64_t cell_ = 0;
    std::uint64_t expired_cell_ = 0;
    std::uint64_t expired_ = 0;
};

/// "RULE: FIELD" for the fields that rules need and a cell lacks.
class Gaps {
  public:
    explicit Gaps(const std::vector<Rule>& own);

    /// The cells of the product have the same fields: for those it is looked up once.
    [[nodiscard]] std::vector<std::string_view> of(const Cell& cell, bool of_product);
    [[nodiscard]] std::shared_ptr<const std::vector<std::string>> texts() const { return texts_; }

  private:
    [[nodiscard]] std::vector<std::string_view> find(const Cell& cell) const;

    std::vector<FieldSet> needs_;
    std::shared_ptr<const std::vector<std::string>> texts_;
    bool product_known_ = false;
    std::vector<std::string_view> product_;
};

/// Which own rules have met a cell.
class Matching {
  public:
    explicit Matching(const Matrix& matrix);

    /// `rows`: the row of each axis, empty for an include.
    void meet(const Cell& cell, std::span<const std::uint64_t> rows);
    /// Of all the cells at once: `any` tells whether there is one that the condition matches.
    void meet(const std::function<bool(const Condition&)>& any);
    [[nodiscard]] std::vector<Diagnostic> idle() const;

  private:
    struct Open {
        const OwnRule* rule;
        Projection tried;
    };
    const Matrix& matrix_;
    std::vector<Open> open_;  ///< those that have met none yet
};

}  // namespace cudamatrix::rules
