// What the rules say about one value of each slot: each rule is asked once for each combination of the slots
// that it reads.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "knowledge/judge/judge.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/rules/rule.hpp"
#include "knowledge/solve/slot.hpp"

namespace cudamatrix::solve {

/// Which stages decide a verdict, by Stage.
using Stages = std::array<bool, kStageCount>;
[[nodiscard]] Stages all_stages();

/// What a matrix file adds to the list of rules, and takes away.
struct Setting {
    std::vector<const rules::Rule*> own = {};   ///< rules of its own; they live longer than the oracle
    std::vector<std::string_view> waived = {};  ///< ids of rules that do not count
    Stages stages = all_stages();
    GoOn go_on = {};  ///< told now and then how many values a search has tried; it may end it
};

/// The stages of the matrix, and its own rules, which live longer than the setting. Nothing is waived.
[[nodiscard]] Setting setting_of(const Matrix& matrix, const std::vector<rules::Rule>& own);

class Oracle {
  public:
    /// `facts` live longer than the oracle. At most one slot for each field, and for each package.
    Oracle(const Facts& facts, std::string today, std::vector<Slot> slots, const Setting& setting = {});

    [[nodiscard]] const std::vector<Slot>& slots() const { return slots_; }
    /// The rules that look at one of the slots, in the order of the list.
    [[nodiscard]] std::size_t size() const { return asked_.size(); }
    [[nodiscard]] const rules::Rule& rule(std::size_t index) const { return *asked_[index].rule; }
    /// The slots that a rule reads.
    [[nodiscard]] const std::vector<std::size_t>& reads(std::size_t index) const {
        return asked_[index].slots;
    }
    /// Of the GPU such a rule asks only in which hosts it is, since the cell names no arch.
    [[nodiscard]] bool reads_host_of_gpu(std::size_t index) const { return asked_[index].host_only; }
    /// The slot of the GPU, where there is one.
    [[nodiscard]] std::optional<std::size_t> gpu_slot() const { return gpu_slot_; }
    /// The first GPU that is in the same hosts.
    [[nodiscard]] std::uint32_t same_host(std::uint32_t gpu) const { return same_host_[gpu]; }

    /// The worst that the rule has to say at the stages that count; only the slots that it reads matter.
    [[nodiscard]] Verdict verdict(std::size_t index, const Picks& picks);
    /// The same over all rules.
    [[nodiscard]] Verdict verdict(const Picks& picks);
    /// What the rule says, without fixes.
    [[nodiscard]] rules::Findings findings(std::size_t index, const Picks& picks);

    /// The cell that the picks make; it lives as long as the oracle.
    [[nodiscard]] Cell cell(const Picks& picks);
    [[nodiscard]] const Facts& facts() const { return facts_; }
    [[nodiscard]] const std::string& today() const { return today_; }
    /// Counts a value that a search tries. False: the user wants no answer any more.
    [[nodiscard]] bool may_go_on();
    [[nodiscard]] bool is_stopped() const { return stopped_; }
    /// How often a rule was asked: what the memory did not know.
    [[nodiscard]] std::uint64_t questions() const { return questions_; }

  private:
    struct Asked {
        const rules::Rule* rule;
        std::vector<std::size_t> slots;
        bool host_only;                                     ///< of the slot of the GPU its hosts only
        std::unordered_map<std::u32string, Verdict> known;  ///< by the picks of `slots`
    };
    void compare_hosts();
    void add(const rules::Rule& rule, const Setting& setting);
    [[nodiscard]] const Value* packages_of(const Picks& picks);

    const Facts& facts_;
    std::string today_;
    std::vector<Slot> slots_;
    Stages stages_;
    std::optional<std::size_t> gpu_slot_;
    std::vector<std::uint32_t> same_host_;  ///< by GPU
    std::vector<Asked> asked_;
    rules::Memo memo_;
    std::map<std::string, std::unique_ptr<Value>> packages_;
    std::uint64_t questions_ = 0;
    GoOn go_on_;
    std::uint64_t tried_ = 0;
    bool stopped_ = false;
};

}  // namespace cudamatrix::solve
