// What the rules say about one value of each variable: each rule is asked once for each combination of the
// variables that it reads.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "knowledge/judge/deciding.hpp"
#include "knowledge/judge/judge.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/rules/rule.hpp"
#include "knowledge/solve/variable.hpp"

namespace cudamatrix::solve {

/// What a matrix file adds to the list of rules, and takes away.
struct Setting {
    std::vector<const rules::Rule*> own = {};   ///< rules of its own; they live longer than the cache
    std::vector<std::string_view> waived = {};  ///< ids of rules that do not count
    DecidingStages deciding = {};
    OnProgress on_progress = {};  ///< told now and then how many values a search has tried; it may end it
};

/// The stages of the matrix, and its own rules, which live longer than the setting. Nothing is waived.
[[nodiscard]] Setting setting_of(const Matrix& matrix, const std::vector<rules::Rule>& own);

class Rows;

class RuleCache {
  public:
    /// `facts` live longer than the cache. At most one variable for each field, and for each package.
    RuleCache(const Facts& facts, std::string today, std::vector<Variable> variables,
              const Setting& setting = {});

    [[nodiscard]] const std::vector<Variable>& variables() const { return variables_; }
    /// The rules that look at one of the variables, in the order of the list.
    [[nodiscard]] std::size_t size() const { return asked_.size(); }
    [[nodiscard]] const rules::Rule& rule(std::size_t index) const { return *asked_[index].rule; }
    /// The variables that a rule reads.
    [[nodiscard]] const std::vector<std::size_t>& reads(std::size_t index) const {
        return asked_[index].variables;
    }
    /// The first value that is the same to the rule: where the cell names no arch, some rules ask of the GPU
    /// only in which hosts it is.
    [[nodiscard]] std::uint32_t told_apart(std::size_t index, std::size_t variable,
                                           std::uint32_t value) const {
        const bool by_host = asked_[index].host_only && variable == gpu_variable_ && value != kUnassigned;
        return by_host ? same_host_[value] : value;
    }

    /// The worst that the rule makes of a cell; only the variables that it reads matter.
    [[nodiscard]] Verdict verdict(std::size_t index, const Assignment& assignment);
    /// No verdict of the rule is worse: what fails at a stage that does not decide is a limit.
    [[nodiscard]] Verdict worst_of(std::size_t index) const;
    /// The variable of the GPU, where there is one.
    [[nodiscard]] std::optional<std::size_t> gpu_variable() const { return gpu_variable_; }
    /// A package may be `any`.
    [[nodiscard]] bool has_unpinned() const { return has_unpinned_; }
    /// By GPU: the first that is the same to the rule, having the same host and the same facts that the rule
    /// can ask for.
    [[nodiscard]] std::vector<std::uint32_t> same_gpus(std::size_t index) const;
    /// What a rule looked at: the value of a variable, or of a GPU only in which hosts it is.
    struct Look {
        std::size_t variable = 0;
        bool host_only = false;
    };
    /// The same without a memory; adds to `looks` what the rule looked at, where it is given.
    [[nodiscard]] Verdict ask(std::size_t index, const Assignment& assignment,
                              std::vector<Look>* looks = nullptr);
    /// The first GPU that is in the same hosts.
    [[nodiscard]] std::uint32_t same_host(std::uint32_t gpu) const { return same_host_[gpu]; }
    /// The answers that all searches share.
    [[nodiscard]] const std::shared_ptr<Rows>& rows();
    /// The same over all rules.
    [[nodiscard]] Verdict verdict(const Assignment& assignment);
    /// What the rule says, without fixes.
    [[nodiscard]] rules::Findings findings(std::size_t index, const Assignment& assignment);

    /// The cell that the assignment makes; it lives as long as the cache.
    [[nodiscard]] Cell cell(const Assignment& assignment);
    [[nodiscard]] const Facts& facts() const { return facts_; }
    [[nodiscard]] const std::string& today() const { return today_; }
    /// Counts a value that a search tries. False: the user wants no answer any more, or enough was asked.
    [[nodiscard]] bool may_go_on();
    [[nodiscard]] bool is_stopped() const { return stopped_; }
    /// How often a rule was asked: what the memory did not know.
    [[nodiscard]] std::uint64_t questions() const { return questions_; }
    /// No search goes on beyond that many.
    void set_most_questions(std::uint64_t most) { most_questions_ = most; }

  private:
    struct Asked {
        const rules::Rule* rule;
        std::vector<std::size_t> variables;
        bool is_own;                         ///< of the matrix file
        bool host_only;                      ///< of the variable of the GPU its hosts only
        std::vector<std::uint64_t> strides;  ///< by variable; empty: no number holds all combinations
        std::unordered_map<std::uint64_t, Verdict> known;             ///< by the values of `variables`
        std::unordered_map<std::u32string, Verdict> known_by_values;  ///< the same without strides
    };
    void compare_hosts();
    void add_looks(std::size_t index, const Assignment& assignment, const rules::ReadLog& log,
                   std::vector<Look>& looks) const;
    void add(const rules::Rule& rule, const Setting& setting);
    [[nodiscard]] const Value* packages_of(const Assignment& assignment);
    [[nodiscard]] bool tells_releases(const Assignment& assignment) const;

    const Facts& facts_;
    std::string today_;
    std::vector<Variable> variables_;
    DecidingStages deciding_;
    std::optional<std::size_t> gpu_variable_;
    bool has_unpinned_ = false;
    std::vector<std::uint32_t> same_host_;  ///< by GPU
    std::vector<Asked> asked_;
    rules::Memo memo_;
    std::unordered_map<std::u32string, std::unique_ptr<Value>> packages_;  ///< by what packages have
    std::shared_ptr<Rows> rows_;
    std::uint64_t questions_ = 0;
    std::uint64_t most_questions_ = std::numeric_limits<std::uint64_t>::max();
    OnProgress on_progress_;
    std::uint64_t tried_ = 0;
    bool stopped_ = false;
};

}  // namespace cudamatrix::solve
