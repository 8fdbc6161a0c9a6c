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

}  // namespace cudamatrix::rules
