#include "knowledge/judge/judge.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "knowledge/judge/count/count.hpp"
#include "knowledge/judge/deciding.hpp"
#include "knowledge/judge/evaluate.hpp"
#include "knowledge/judge/finding_index.hpp"
#include "knowledge/judge/own_rules.hpp"
#include "knowledge/judge/rule_counts.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix {
namespace {

using rules::Projection;
using rules::Rule;

/// What a rule says of the cells of one entry of its table.
struct Answer {
    std::vector<std::uint32_t> findings;  ///< indices into Judgement::findings
    std::array<Verdict, kStageCount> stages{};
    rules::Tally tally;
};

/// A rule with the tables of its answers. Entries are indices into the judge's answers, 0: not asked yet.
struct Asked {
    const Rule* rule;
    rules::SharedAnswers* shared = nullptr;
    bool in_product = false;  ///< whether the cells of the product have what it needs (all or none do)
    bool waived = false;      ///< an entry of `waive` names it
    std::size_t count = 0;    ///< its line of counts: own rules of one id share it
    Projection counted;       ///< by the fields that the rule reads, and those of its waivers
    Projection plain;         ///< by the fields that the rule reads; used where it is waived
    std::vector<rules::Findings> said;  ///< what `plain` points at, from 1
};

FieldSet both(FieldSet a, FieldSet b) {
    for (const auto& field : all_fields()) {
        if (b.contains(field.field)) a.insert(field.field);
    }
    return a;
}

class Judge {
  public:
    Judge(const Matrix& matrix, const Facts& facts, const JudgeOptions& options)
        : matrix_(matrix),
          facts_(facts),
          options_(options),
          product_(product_size(matrix)),
          groups_(matrix),
          rows_(matrix.axes.size()),
          own_(rules::own_rules(matrix)),
          gaps_(own_),
          waiving_(matrix, options.today),
          matching_(matrix),
          implies_{rules::gpu_implies_arch(matrix, facts), rules::leaves_releases_open(matrix)},
          deciding_(matrix) {
        for (const auto& rule : rules::all_rules())
            add_rule(rule, options.shared);
        for (const auto& rule : own_)
            add_rule(rule, nullptr);
        answers_.resize(2);
    }

    enum class End { all, too_many, stopped };
    End run() {
        auto end = End::all;
        std::uint64_t cells = 0;
        rules::Progress progress(options_.on_progress);
        progress.begin("cells judged", options_.cell_limit);
        for_each_cell(matrix_, [&](const Cell& cell) {
            if (cells++ == options_.cell_limit) end = End::too_many;
            if (!progress.tick()) end = End::stopped;
            if (end == End::all) judge_cell(cell);
            return end == End::all;
        });
        return end;
    }

    Judgement take() {
        out_.findings = std::move(groups_).take();
        out_.rules = std::move(counts_).take();
        out_.warnings = matching_.idle();
        const auto idle = waiving_.idle();
        out_.warnings.insert(out_.warnings.end(), idle.begin(), idle.end());
        out_.need_texts = gaps_.texts();
        return std::move(out_);
    }

  private:
    void add_rule(const Rule& rule, rules::SharedAnswers* shared) {
        const auto fields = rules::depends_on(rule, implies_);
        Asked asked{.rule = &rule,
                    .shared = shared,
                    .waived = waiving_.concerns(rule.id),
                    .count = counts_.line_of(rule.id),
                    .counted = Projection(matrix_, both(fields, waiving_.reads(rule.id))),
                    .plain = Projection(matrix_, fields),
                    .said = {}};
        rules_.push_back(std::move(asked));
    }

    void judge_cell(const Cell& cell) {
        const bool of_product = cell.index < product_;
        if (of_product) locate(cell);
        matching_.meet(cell,
                       of_product ? std::span<const std::uint64_t>(rows_) : std::span<const std::uint64_t>());
        met_.clear();
        for (auto& asked : rules_) {
            if (of_product ? !asked.in_product : !rules::applies(*asked.rule, cell)) continue;
            met_.push_back(of_product ? shared_answer(asked, cell) : ask(asked, cell));
        }
        std::array<Verdict, kStageCount> stages{};
        counts_.begin_cell();
        for (const auto id : met_) {
            const auto& answer = answers_[id];
            if (answer.tally.empty()) continue;
            counts_.add(answer.tally);
            for (std::size_t s = 0; s < kStageCount; ++s)
                stages[s] = std::max(stages[s], answer.stages[s]);
        }
        const auto verdict = deciding_.worst(stages, cell);
        ++out_.verdicts[static_cast<std::size_t>(verdict)];
        list(cell, verdict, stages);
    }

    void list(const Cell& cell, Verdict verdict, const std::array<Verdict, kStageCount>& stages) {
        auto& judged = out_.cells.emplace_back();
        judged.cell = cell;
        judged.id = cell_id(matrix_, cell);
        judged.verdict = verdict;
        judged.stages = stages;
        for (const auto answer : met_) {
            for (const auto id : answers_[answer].findings) {
                // Two findings of a rule may bring the same news of a waiver.
                if (std::find(judged.findings.begin(), judged.findings.end(), id) != judged.findings.end())
                    continue;
                groups_.meet(id, judged.id);
                judged.findings.push_back(id);
            }
        }
        judged.not_checked = gaps_.of(cell, cell.index < product_);
    }

    // The row of each axis at a position of the product; the last axis is the fastest.
    void locate(const Cell& cell) {
        auto index = cell.index;
        for (std::size_t i = matrix_.axes.size(); i-- > 0;) {
            const auto size = matrix_.axes[i].rows.size();
            rows_[i] = index % size;
            index /= size;
        }
        if (product_seen_) return;
        product_seen_ = true;
        for (auto& asked : rules_)
            asked.in_product = rules::applies(*asked.rule, cell);
    }

    std::uint32_t shared_answer(Asked& asked, const Cell& cell) {
        auto& entry = asked.counted.entry(rows_);
        if (entry == 0) entry = asked.waived ? ask_waived(asked, cell) : ask(asked, cell);
        return entry;
    }

    std::uint32_t ask(const Asked& asked, const Cell& cell) {
        return enter(asked, cell, findings(asked, cell));
    }

    rules::Findings findings(const Asked& asked, const Cell& cell) {
        if (asked.shared != nullptr) return asked.shared->asked(*asked.rule, cell, &memo_);
        return rules::ask(*asked.rule, cell, facts_, options_.today, &memo_);
    }

    [[nodiscard]] rules::Findings with_fixes(const Asked& asked, const Cell& cell) const {
        if (asked.shared != nullptr) return asked.shared->evaluated(*asked.rule, cell);
        return rules::evaluate(*asked.rule, cell, facts_, options_.today);
    }

    // A waiver may look at fields that the rule does not read: for those the rule is not asked again.
    std::uint32_t ask_waived(Asked& asked, const Cell& cell) {
        auto& said = asked.plain.entry(rows_);
        if (said == 0) {
            asked.said.push_back(findings(asked, cell));
            said = static_cast<std::uint32_t>(asked.said.size());
        }
        return enter(asked, cell, asked.said[said - 1]);
    }

    // Gives the index of the answer; 1 is the one that says nothing.
    std::uint32_t enter(const Asked& asked, const Cell& cell, const rules::Findings& findings) {
        if (findings.empty()) return 1;
        Answer answer;
        rules::Findings complete;
        Waiving::Met met;
        if (asked.waived) met = waiving_.meet(asked.rule->id, cell);
        for (std::size_t i = 0; i < findings.size(); ++i) {
            const auto& finding = findings[i];
            answer.tally.add(asked.count, finding.severity, met.active != nullptr);
            if (met.active == nullptr) raise(answer, finding);
            // Most answers repeat what another projection of the rule said: only for new ones are fixes
            // looked for and tried.
            answer.findings.push_back(groups_.of(finding, cell, met.active, [&] {
                if (complete.empty()) complete = with_fixes(asked, cell);
                return complete[i];
            }));
            // What makes no verdict counts for nothing again, either.
            if (finding.verdict() == Verdict::accepted) continue;
            for (const auto* waiver : met.expired) {
                const auto news = Waiving::expiry(*waiver, finding);
                answer.tally.expired = true;
                raise(answer, news);
                answer.findings.push_back(groups_.of_expiry(*waiver, news, cell));
            }
        }
        answers_.push_back(std::move(answer));
        return static_cast<std::uint32_t>(answers_.size() - 1);
    }

    static void raise(Answer& answer, const Finding& finding) {
        auto& stage = answer.stages[static_cast<std::size_t>(finding.stage)];
        stage = std::max(stage, finding.verdict());
    }

    using Waiving = rules::Waiving;

    const Matrix& matrix_;
    const Facts& facts_;
    rules::Memo memo_;
    const JudgeOptions& options_;
    std::uint64_t product_;
    rules::FindingIndex groups_;
    std::vector<std::uint64_t> rows_;
    std::vector<Rule> own_;
    rules::Gaps gaps_;
    Waiving waiving_;
    rules::Matching matching_;
    rules::Implies implies_;
    DecidingStages deciding_;
    rules::Counts counts_;
    std::vector<Asked> rules_;
    bool product_seen_ = false;
    std::vector<Answer> answers_;
    std::vector<std::uint32_t> met_;  ///< the answers for the current cell
    Judgement out_;
};

Failure too_many(const Matrix& matrix, const JudgeOptions& options) {
    constexpr std::uint64_t walk = 20'000'000;
    const auto count = count_cells(matrix, walk);
    const auto text = count ? fmt::format("{} cells", *count)
                            : fmt::format("{} cells before its excludes", product_size(matrix));
    return input_failure(
        fmt::format("{}: the matrix has {}: at most {} are judged one by one", matrix.path, text,
                    options.cell_limit),
        "shorten an axis, zip axes that go together, or exclude more; `check --summary` counts any number");
}

}  // namespace

Result<Judgement> judge(const Matrix& matrix, const Facts& facts, const JudgeOptions& options) {
    if (auto mistakes = rules::mistakes_in_ids(matrix); !mistakes.empty())
        return Failure{ExitCode::bad_input, std::move(mistakes)};
    if (!options.list_cells)
        return rules::count(matrix, facts, options.today, rules::kBlock, options.on_progress);
    Judge judge(matrix, facts, options);
    const auto end = judge.run();
    if (end == Judge::End::too_many) return too_many(matrix, options);
    if (end == Judge::End::stopped) return rules::interrupted();
    return judge.take();
}

}  // namespace cudamatrix
