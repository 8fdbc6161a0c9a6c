// Judging a matrix: every rule once for each distinct projection of the matrix on the fields that the rule
// reads.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/finding/finding.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix {

/// How many cells a rule has something to say about. A cell that two findings of a rule meet counts once.
struct RuleCount {
    std::string rule;
    std::array<std::uint64_t, kSeverityCount> cells{};  ///< by Severity, without waived findings
    std::uint64_t waived = 0;

    [[nodiscard]] std::uint64_t by(Severity severity) const {
        return cells[static_cast<std::size_t>(severity)];
    }
};

struct JudgedCell {
    Cell cell;
    std::string id;
    Verdict verdict = Verdict::accepted;        ///< the worst of its stages, as DecidingStages weigh them
    std::array<Verdict, kStageCount> stages{};  ///< every stage, deciding or not
    std::vector<std::uint32_t> findings;        ///< indices into Judgement::findings
    std::string held = {};  ///< what images or services add to it that no fact knows: it is unknown by that
    std::vector<std::string_view>
        not_checked;  ///< "rule: field" for each field that a rule lacked; the texts live in the Judgement
};

struct Judgement {
    std::vector<JudgedCell> cells;            ///< in the order of the file
    std::vector<FindingGroup> findings;       ///< in the order of first appearance
    std::array<std::uint64_t, 4> verdicts{};  ///< cells by Verdict
    std::vector<RuleCount> rules;             ///< rules that have something to say, in the order of judging
    /// Own rules and waivers that match nothing.
    std::vector<Diagnostic> warnings;
    /// What judge_deployment finds.
    std::vector<Diagnostic> deployment;
    /// Owns what the cells' `not_checked` shows.
    std::shared_ptr<const std::vector<std::string>> need_texts;

    [[nodiscard]] std::uint64_t count(Verdict verdict) const {
        return verdicts[static_cast<std::size_t>(verdict)];
    }
    /// Whether a finding about images or services is of that severity.
    [[nodiscard]] bool deployment_has(Severity severity) const;
};

/// How far a long judgement is: "rules asked", 12 of 55.
struct JudgingProgress {
    std::string_view step;
    std::size_t done = 0;
    std::size_t all = 0;
};
/// Told now and then; false: stop.
using OnProgress = std::function<bool(const JudgingProgress&)>;

namespace rules {
class SharedAnswers;
}  // namespace rules

struct JudgeOptions {
    std::string today;                   ///< YYYY-MM-DD: what "end of life" is measured against (--on DATE)
    std::uint64_t cell_limit = 100'000;  ///< of listed cells
    /// false: only `verdicts`, `rules` and `warnings` are filled, for matrices of any size.
    bool list_cells = true;
    OnProgress on_progress =
        {};  ///< where it says stop, the judgement fails as interrupted, without a diagnostic
    /// Of many matrices, by the same facts as of the same day; nothing: each asks for itself.
    rules::SharedAnswers* shared = nullptr;
};

/// Judges every cell by the list of rules and by those of the matrix file. Input failures: more cells than
/// the limit (where they are only counted: 2^64), an own rule with the id of one of ours, a waiver of a rule
/// that does not exist.
[[nodiscard]] Result<Judgement> judge(const Matrix& matrix, const Facts& facts, const JudgeOptions& options);

/// Adds what the rules say of images and services: of the cells that an entry is for, where they are neither
/// rejected nor unknown by themselves, and only what the entry's packages and variables cause. Each finding
/// points at its package or variable and says how many cells it meets; waivers of `today` (YYYY-MM-DD) hold.
/// A cell becomes unknown where no fact knows what is added. GPU capabilities that no fact knows are errors;
/// an entry of images that matches no cell is a warning. Where no cell is listed, only capabilities are
/// judged.
void judge_deployment(const Matrix& matrix, const Facts& facts, std::string_view today, Judgement& judgement);

/// Both of them, as of the same day.
[[nodiscard]] Result<Judgement> judge_whole(const Matrix& matrix, const Facts& facts,
                                            const JudgeOptions& options);

/// Where a finding of the cell stands in the file: at the value that it is first about, as far as it is
/// there.
[[nodiscard]] Location place_in(const Finding& finding, const Cell& cell);

/// What the reader warns of, then what judging warns of, then the findings about images and services.
[[nodiscard]] std::vector<Diagnostic> all_warnings(const Matrix& matrix, const Judgement& judgement);

namespace rules {

// Asks now and then whether long work may go on (private to knowledge/judge).

class Progress {
  public:
    /// `on_progress` is kept by reference; an empty one never says stop.
    explicit Progress(const OnProgress& on_progress) : on_progress_(on_progress) {}

    void begin(std::string_view step, std::size_t all) { now_ = {step, 0, all}; }
    /// One of the step's parts is done. False: stop.
    bool next() {
        ++now_.done;
        return ask();
    }
    /// A small piece of work: not every one asks. False: stop.
    bool tick() { return ++ticks_ % kTicks == 0 ? ask() : !stopped_; }
    [[nodiscard]] bool stopped() const { return stopped_; }

  private:
    static constexpr std::uint64_t kTicks = 1024;

    bool ask() {
        if (!stopped_ && on_progress_) stopped_ = !on_progress_(now_);
        return !stopped_;
    }

    const OnProgress& on_progress_;
    JudgingProgress now_;
    std::uint64_t ticks_ = 0;
    bool stopped_ = false;
};

/// What a judgement that was stopped ends with.
[[nodiscard]] inline Failure interrupted() {
    return Failure{ExitCode::interrupted, {}};
}

}  // namespace rules

}  // namespace cudamatrix
