#include "rules/evaluate.hpp"

#include <algorithm>
#include <deque>

#include "base/text.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::rules {
namespace {

bool same_question(const Finding& a, const Finding& b) {
    return a.aspect == b.aspect;
}

// A verdict on an unverified fact would be a guess: it becomes unknown and says what it would have been.
void doubt_unverified(Finding& finding) {
    if (finding.severity == Severity::unknown) return;
    const auto doubtful = std::find_if(finding.facts.begin(), finding.facts.end(), [](const FactRef& fact) {
        return fact.confidence == Confidence::unverified;
    });
    if (doubtful == finding.facts.end()) return;
    finding.message = fmt::format("{}; this rests on the unverified fact {}: would be {}", finding.message,
                                  doubtful->id, to_string(finding.verdict()));
    finding.severity = Severity::unknown;
}

Findings ask_projected(const Rule& rule, const ProjectedCell& cell, const Facts& facts,
                       std::string_view today, bool wants_fixes, Memo* memo = nullptr) {
    Findings found;
    rule.judge(Context{cell, facts, today, wants_fixes, memo, nullptr}, found);
    for (auto& finding : found) {
        finding.rule = rule.id;
        doubt_unverified(finding);
    }
    return found;
}

Verdict worst_answer(const Finding& question, const Findings& findings) {
    auto verdict = Verdict::accepted;
    for (const auto& finding : findings) {
        if (same_question(finding, question)) verdict = std::max(verdict, finding.verdict());
    }
    return verdict;
}

// What the rule says once `option` is applied; nothing when a value of it is not one of its field.
std::optional<Findings> after_fix(const Rule& rule, const ProjectedCell& cell, const FixOption& option,
                                  const Facts& facts, std::string_view today) {
    std::deque<Value> storage;
    ProjectedCell changed = cell;
    for (const auto& [field, text] : option.set) {
        auto value = value_from_text(field, text);
        if (std::holds_alternative<ValueProblem>(value)) return std::nullopt;
        changed = changed.with(field, &storage.emplace_back(std::get<Value>(std::move(value))));
    }
    return ask_projected(rule, changed, facts, today, false);
}

bool makes_worse(const Findings& before, const Findings& after) {
    return std::any_of(after.begin(), after.end(), [&](const Finding& now) {
        if (now.verdict() != Verdict::rejected) return false;
        return std::none_of(before.begin(), before.end(), [&](const Finding& then) {
            return same_question(then, now) && then.verdict() == Verdict::rejected;
        });
    });
}

}  // namespace

bool applies(const Rule& rule, const Cell& cell) {
    return std::all_of(rule.needs.begin(), rule.needs.end(), [&](FieldSet need) {
        return std::any_of(all_fields().begin(), all_fields().end(), [&](const FieldInfo& field) {
            return need.contains(field.field) && cell.has(field.field);
        });
    });
}

Acceptances passes(const Rule& rule, const Cell& cell, const Facts& facts, std::string_view today) {
    const ProjectedCell projected(cell, rule.reads);
    Acceptances accepted;
    Findings found;
    // Without a memo: it remembers findings only.
    rule.judge(Context{projected, facts, today, false, nullptr, &accepted}, found);
    for (auto& each : accepted)
        each.rule = rule.id;
    return accepted;
}

bool vanished(const Finding& finding, const Findings& after) {
    return std::none_of(after.begin(), after.end(), [&](const Finding& now) {
        if (now.rule != finding.rule || !same_question(now, finding)) return false;
        if (finding.severity == Severity::unknown) return now.severity == Severity::unknown;
        return now.verdict() >= std::min(finding.verdict(), Verdict::unknown) &&
               now.severity != Severity::note;
    });
}

Findings ask(const Rule& rule, const Cell& cell, const Facts& facts, std::string_view today, Memo* memo,
             ReadLog* log) {
    return ask_projected(rule, ProjectedCell(cell, rule.reads, log), facts, today, false, memo);
}

Findings evaluate(const Rule& rule, const Cell& cell, const Facts& facts, std::string_view today) {
    const ProjectedCell projected(cell, rule.reads);
    auto found = ask_projected(rule, projected, facts, today, true);
    for (auto& finding : found) {
        std::vector<FixOption> kept;
        for (auto& option : finding.fixes) {
            const auto after = after_fix(rule, projected, option, facts, today);
            if (!after || !vanished(finding, *after) || makes_worse(found, *after)) continue;
            if (finding.severity == Severity::unknown) {
                option.text += fmt::format(" (then {})", to_string(worst_answer(finding, *after)));
            }
            kept.push_back(std::move(option));
        }
        finding.fixes = std::move(kept);
    }
    return found;
}

}  // namespace cudamatrix::rules
