#include "knowledge/solve/suggest.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "knowledge/solve/ranking.hpp"
#include "knowledge/solve/variable.hpp"

namespace cudamatrix::solve {
namespace {

// Stacks that are tried before it is given up to find one that is rendered.
constexpr std::size_t kMostRefused = 20;

std::vector<Stack> best_of(RuleCache& cache, const Domains& domains, const SuggestOptions& options) {
    std::vector<Stack> out, not_rendered;
    Ranking ranking(cache, domains);
    const bool renders = !options.renderer.families.empty();
    std::optional<Ranked> before;
    std::size_t refused = 0;
    while (out.size() < options.limit && (!out.empty() || refused < kMostRefused)) {
        const auto next = ranking.next();
        if (next.empty()) break;
        for (const auto& ranked : next) {
            if (out.size() == options.limit) break;
            auto stack =
                renders ? completed(cache, ranked.values, options.renderer) : stack_of(cache, ranked.values);
            refused += stack.refusal.empty() ? 0 : 1;
            auto& list = stack.refusal.empty() ? out : not_rendered;
            if (list.size() == options.limit) continue;
            if (!stack.refusal.empty() && !out.empty()) continue;
            stack.why = list.empty() ? ranking.merits(ranked) : ranking.difference(*before, ranked);
            before = ranked;
            list.push_back(std::move(stack));
        }
    }
    return out.empty() ? not_rendered : out;
}

std::string constraint_text(const Variable& variable, const Constraint& constraint) {
    return variable.package.empty() ? fmt::format("{} {}", variable.name(), constraint.text)
                                    : fmt::format("need {}", constraint.text);
}

// The constraint with its limit moved to the new value.
std::string change_text(const Variable& variable, const Constraint& constraint, const Change& change) {
    const auto& value = variable.values[change.value];
    if (!value) return fmt::format("without {}", variable.name());
    const auto plain =
        variable.field == Field::torch ? value->text.substr(0, value->text.find('+')) : value->text;
    if (!variable.ordered || variable.field == Field::gpu)
        return fmt::format("{} {}", variable.name(), plain);
    // One build was asked for: the other is one, too.
    if (variable.field == Field::torch && constraint.text.find('+') != std::string::npos)
        return fmt::format("torch {}", value->text);
    // One value: it becomes a limit. A range: its limit on that side moves.
    const bool at_least = change.newer == constraint.exact;
    return fmt::format("{} {} {}", variable.name(), at_least ? ">=" : "<=", plain);
}

void explain_nothing(const Problem& problem, Suggestion& out) {
    auto& cache = problem.cache;
    auto conflicts = conflicts_of(problem);
    out.all_clashes = conflicts.all_sets;
    out.all_remedies = conflicts.all_relaxations;
    for (auto& conflict : conflicts.sets) {
        Clash clash;
        for (const auto index : conflict.constraints)
            clash.constraints.push_back(out.constraints[index]);
        for (auto& evidence : conflict.evidence)
            clash.reasons.push_back({cache.rule(evidence.rule).id, std::move(evidence.example),
                                     evidence.closed, std::move(evidence.facts)});
        out.clashes.push_back(std::move(clash));
    }
    for (const auto& relaxation : conflicts.relaxations) {
        Remedy remedy{{}, stack_of(cache, relaxation.witness)};
        for (const auto& change : relaxation.changes) {
            const auto& constraint = problem.constraints[change.constraint];
            remedy.changes.push_back(change_text(cache.variables()[constraint.variable], constraint, change));
        }
        out.remedies.push_back(std::move(remedy));
    }
}

}  // namespace

Cell Stack::cell() const {
    Cell cell;
    for (const auto& [field, value] : fields)
        cell.set(field, &value);
    return cell;
}

Stack stack_of(RuleCache& cache, const Assignment& assignment) {
    Stack stack;
    stack.verdict = cache.verdict(assignment);
    const auto cell = cache.cell(assignment);
    for (const auto& field : all_fields()) {
        if (const auto* value = cell.get(field.field)) stack.fields.emplace_back(field.field, *value);
    }
    for (std::size_t rule = 0; rule < cache.size(); ++rule) {
        for (auto& finding : cache.findings(rule, assignment)) {
            if (finding.verdict() != Verdict::accepted) stack.limits.push_back(std::move(finding));
        }
    }
    stack.row = row_text(cell);
    return stack;
}

Result<Suggestion> suggest(const Facts& facts, const Query& query, const SuggestOptions& options) {
    auto asked = search_problem(facts, query);
    if (!asked.ok()) return std::move(asked).failure();
    Setting setting;
    setting.on_progress = options.on_progress;
    RuleCache cache(facts, options.today, std::move(asked->variables), setting);
    const Problem problem{cache, std::move(asked->constraints)};
    Suggestion out;
    ConstraintSet all;
    for (const auto& constraint : problem.constraints) {
        all.push_back(all.size());
        out.constraints.push_back(constraint_text(cache.variables()[constraint.variable], constraint));
    }
    const auto domains = domains_of(problem, all);
    for (std::size_t i = 0; i < domains.size(); ++i) {
        if (domains[i].size() > 1)
            out.free.push_back(fmt::format("{} ({} values)", cache.variables()[i].name(), domains[i].size()));
    }
    const auto kept = without_yanked(cache.variables(), domains);
    out.stacks = best_of(cache, kept, options);
    if (out.stacks.empty() && kept != domains) out.stacks = best_of(cache, domains, options);
    if (out.stacks.empty() && !cache.is_stopped()) explain_nothing(problem, out);
    if (cache.is_stopped()) return Failure{ExitCode::interrupted, {}};
    return out;
}

std::string matrix_text(const Suggestion& suggestion) {
    std::string out = "version: 1\nname: suggested\ninclude:\n";
    for (const auto& stack : suggestion.stacks)
        out += "  - " + stack.row + "\n";
    return out;
}

}  // namespace cudamatrix::solve
