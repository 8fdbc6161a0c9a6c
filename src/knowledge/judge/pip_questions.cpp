#include "knowledge/judge/pip_questions.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "knowledge/judge/evaluate.hpp"
#include "knowledge/resolve/pip_question.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix {
namespace {

using rules::Rule;

// By the rules that look for what is known; what pip said before is to be asked again.
std::vector<const Rule*> install_rules() {
    std::vector<const Rule*> out;
    for (const auto& rule : rules::all_rules()) {
        if (rule.stage == Stage::install && rule.id != "packages-resolve") out.push_back(&rule);
    }
    return out;
}

class Asker {
  public:
    Asker(const Facts& facts, std::string_view today, PipQuestions& questions)
        : facts_(facts), today_(today), questions_(questions), install_(install_rules()) {
        for (const auto& field : all_fields()) {
            const bool decides =
                field.field == Field::gpu || rules::kReadByPipQuestion.contains(field.field) ||
                std::ranges::any_of(install_,
                                    [&](const Rule* rule) { return rule->reads.contains(field.field); });
            if (decides) fields_.push_back(field.field);
        }
    }

    void add(const Cell& cell) {
        std::vector<const Value*> values;
        for (const auto field : fields_)
            values.push_back(cell.get(field));
        if (!seen_.insert(std::move(values)).second) return;
        std::string refused;
        const auto question = question_of(cell, refused);
        if (!refused.empty()) questions_.refused.insert(refused);
        if (!question || questions_.open.count(*question) != 0 || is_answered(*question)) return;
        if (!is_settled(cell)) questions_.open.insert(*question);
    }

  private:
    // Asked as a rule, so that it sees the cell as rules do: with the processor that its GPU implies.
    std::optional<PipQuestion> question_of(const Cell& cell, std::string& refused) {
        std::optional<PipQuestion> out;
        Rule probe = *rules::rule_named("packages-resolve");
        probe.judge = [&](rules::Ask& ask) {
            const auto written = ask.cell.as_written();
            out = rules::pip_question(ask.on(written), &refused);
        };
        (void)rules::ask(probe, cell, facts_, today_, &memo_);
        return out;
    }

    bool is_answered(const PipQuestion& question) const {
        const auto row = lookup::resolution(facts_, question);
        return row && ((row->has("takes") && !question.is_open()) || row->ref().as_of >= today_);
    }

    // Rejected, or with a source to be built, which pip must not look into.
    bool is_settled(const Cell& cell) {
        return std::ranges::any_of(install_, [&](const Rule* rule) {
            if (!rules::applies(*rule, cell)) return false;
            const auto found = rules::ask(*rule, cell, facts_, today_, &memo_);
            return std::ranges::any_of(found, [&](const Finding& finding) {
                return finding.severity == Severity::error ||
                       (finding.severity == Severity::warning && rule->id == "package-has-wheel");
            });
        });
    }

    const Facts& facts_;
    std::string_view today_;
    PipQuestions& questions_;
    std::vector<const Rule*> install_;
    std::vector<Field> fields_;
    std::set<std::vector<const Value*>> seen_;
    rules::Memo memo_;
};

}  // namespace

PipQuestions pip_questions(const Matrix& matrix, const Facts& facts, std::string_view today,
                           std::uint64_t cell_limit) {
    PipQuestions out;
    Asker asker(facts, today, out);
    std::uint64_t cells = 0;
    for_each_cell(matrix, [&](const Cell& cell) {
        out.all = cells++ < cell_limit;
        if (out.all) asker.add(cell);
        return out.all;
    });
    return out;
}

void add_pip_question(const Cell& cell, const Facts& facts, std::string_view today, PipQuestions& questions) {
    Asker(facts, today, questions).add(cell);
}

}  // namespace cudamatrix
