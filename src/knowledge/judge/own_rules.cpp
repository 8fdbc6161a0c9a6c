#include "knowledge/judge/own_rules.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// The values of the file that meet the clause: what else the user could have asked for.
std::vector<FixOption> values_that_meet(const Matrix& matrix, const Condition::Clause& clause) {
    std::vector<FixOption> options;
    constexpr std::size_t most = 3;
    for (const auto& axis : matrix.axes) {
        const auto at = std::find(axis.fields.begin(), axis.fields.end(), clause.field);
        if (at == axis.fields.end()) continue;
        for (const auto& row : axis.rows) {
            const auto& value = row[static_cast<std::size_t>(at - axis.fields.begin())];
            Cell cell;
            cell.set(clause.field, &value);
            const bool known = std::any_of(options.begin(), options.end(), [&](const FixOption& option) {
                return option.set.front().second == value.text;
            });
            if (!known && options.size() < most && matches(clause, cell))
                options.push_back(set_to(clause.field, value.text));
        }
    }
    for (const auto& all : clause.any_of) {
        const bool is_value = all.size() == 1 && all.front().op == Predicate::Op::equal;
        if (options.empty() && is_value) options.push_back(set_to(clause.field, all.front().operand));
    }
    return options;
}

FactRef reference(const Matrix& matrix, const OwnRule& rule) {
    FactRef ref{rule.id, {}, {}, Confidence::read};
    if (!rule.source.empty()) ref.sources.push_back(rule.source);
    ref.sources.push_back(fmt::format("{}:{}", matrix.path, rule.where.line));
    return ref;
}

void judge_clause(Ask& ask, const Matrix& matrix, const OwnRule& rule, const Condition::Clause& clause,
                  const std::vector<FixOption>& fixes) {
    const Cell cell = ask.cell.cell();
    if (!matches(rule.when, cell) || matches(clause, cell)) return;
    std::vector<Field> about{clause.field};
    std::vector<std::string> reasons;
    for (const auto& each : rule.when.clauses) {
        if (std::find(about.begin(), about.end(), each.field) == about.end()) about.push_back(each.field);
        reasons.push_back(fmt::format("{} {}", info(each.field).name, cell.get(each.field)->text));
    }
    ask.question(std::move(about), {}, info(clause.field).name);
    auto answer =
        ask.say(rule.severity, fmt::format("{} {} does not meet {}{}{}: {}", info(clause.field).name,
                                           cell.get(clause.field)->text, alternatives_text(clause),
                                           reasons.empty() ? "" : ", required with ",
                                           text::join(reasons, ", "), rule.because));
    answer.because(reference(matrix, rule));
    answer.fix(fixes);
}

}  // namespace

FieldSet fields_of(const Condition& condition) {
    FieldSet fields;
    for (const auto& clause : condition.clauses)
        fields.insert(clause.field);
    return fields;
}

std::string missing_fields(const Matrix& matrix, const Condition& condition) {
    std::string out;
    for (const auto& clause : condition.clauses) {
        if (!matrix.named.contains(clause.field))
            out += fmt::format(": no cell has the field {}", info(clause.field).name);
    }
    return out;
}

std::vector<Rule> own_rules(const Matrix& matrix) {
    std::vector<Rule> rules;
    for (const auto& own : matrix.rules) {
        for (const auto& clause : own.require.clauses) {
            Rule rule{.id = own.id,
                      .stage = *stage_named(own.stage),
                      .summary = own.because,
                      .why = {},
                      .fails = {},
                      .passes = {},
                      .reads = fields_of(own.when),
                      .needs = {},
                      .judge = {}};
            for (const auto& each : own.when.clauses)
                rule.needs.push_back({each.field});
            if (!rule.reads.contains(clause.field)) rule.needs.push_back({clause.field});
            rule.reads.insert(clause.field);
            rule.judge = [&matrix, &own, &clause, fixes = values_that_meet(matrix, clause)](Ask& ask) {
                judge_clause(ask, matrix, own, clause, fixes);
            };
            rules.push_back(std::move(rule));
        }
    }
    return rules;
}

std::vector<Diagnostic> mistakes_in_ids(const Matrix& matrix) {
    std::vector<Diagnostic> mistakes;
    std::vector<std::string> ids;
    for (const auto& rule : all_rules())
        ids.emplace_back(rule.id);
    const auto taken = [&](std::string_view id) {
        return id == kWaiverExpired || std::find(ids.begin(), ids.end(), id) != ids.end();
    };
    for (const auto& own : matrix.rules) {
        if (taken(own.id)) {
            mistakes.push_back(
                Diagnostic::error(fmt::format("id {}: a rule of cudamatrix has it", own.id), own.where)
                    .with_fix("give your rule an id of its own"));
        }
    }
    for (const auto& own : matrix.rules)
        ids.push_back(own.id);
    for (const auto& waiver : matrix.waivers) {
        // Without a legible id there is nothing to look for: the reader says what is wrong with it.
        if (waiver.rule.empty() || std::find(ids.begin(), ids.end(), waiver.rule) != ids.end()) continue;
        const auto near = text::did_you_mean(waiver.rule, ids);
        mistakes.push_back(
            Diagnostic::error(fmt::format("waive: there is no rule {}", waiver.rule), waiver.where)
                .with_fix(near ? fmt::format("did you mean {}?", *near)
                               : "`cudamatrix rules list` lists them"));
    }
    return mistakes;
}

Waiving::Waiving(const Matrix& matrix, std::string_view today)
    : matrix_(matrix), today_(today), met_(matrix.waivers.size(), false) {}

bool Waiving::concerns(std::string_view rule) const {
    return std::any_of(matrix_.waivers.begin(), matrix_.waivers.end(),
                       [&](const Waiver& waiver) { return waiver.rule == rule; });
}

FieldSet Waiving::reads(std::string_view rule) const {
    FieldSet fields;
    for (const auto& waiver : matrix_.waivers) {
        if (waiver.rule != rule) continue;
        for (const auto& clause : waiver.when.clauses)
            fields.insert(clause.field);
    }
    return fields;
}

Waiving::Met Waiving::meet(std::string_view rule, const Cell& cell) {
    Met met;
    for (std::size_t i = 0; i < matrix_.waivers.size(); ++i) {
        const auto& waiver = matrix_.waivers[i];
        if (waiver.rule != rule || !matches(waiver.when, cell)) continue;
        met_[i] = true;
        if (has_ended(waiver)) {
            met.expired.push_back(&waiver);
        } else if (met.active == nullptr) {
            met.active = &waiver;
        }
    }
    if (met.active != nullptr) met.expired.clear();
    return met;
}

void Waiving::meet(const std::function<bool(const Waiver&)>& any) {
    for (std::size_t i = 0; i < matrix_.waivers.size(); ++i)
        met_[i] = any(matrix_.waivers[i]);
}

Finding Waiving::expiry(const Waiver& waiver, const Finding& finding) {
    Finding out;
    out.severity = Severity::warning;
    out.stage = finding.stage;
    out.rule = kWaiverExpired;
    out.primary = finding.primary;
    out.message = fmt::format("the waiver of {} ended on {} ({}): what it accepted counts again", waiver.rule,
                              waiver.until, waiver.because);
    return out;
}

std::vector<Diagnostic> Waiving::idle() const {
    std::vector<Diagnostic> out;
    for (std::size_t i = 0; i < met_.size(); ++i) {
        if (met_[i]) continue;
        const auto& waiver = matrix_.waivers[i];
        out.push_back(Diagnostic::warning(fmt::format("this waiver matches no finding of {}{}", waiver.rule,
                                                      missing_fields(matrix_, waiver.when)),
                                          waiver.where)
                          .with_fix("correct it, or delete it"));
    }
    return out;
}

}  // namespace cudamatrix::rules
