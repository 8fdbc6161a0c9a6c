#include "knowledge/facts/known_problems.hpp"

#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "matrix/value.hpp"

namespace cudamatrix {
namespace {

constexpr std::string_view kWhen = "when.", kFix = "fix.", kPackage = "packages.";

std::string_view after(std::string_view prefix, std::string_view text) {
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

std::optional<KnownProblem::Clause> read_clause(const Row::Column& column) {
    const auto name = after(kWhen, column.name);
    KnownProblem::Clause clause;
    if (name.starts_with(kPackage)) {
        auto versions = pep440::Specifiers::parse(column.values.empty() ? "" : column.values.front());
        if (!versions) return std::nullopt;
        clause.package = after(kPackage, name);
        clause.versions = *std::move(versions);
        return clause;
    }
    const auto field = field_named(name);
    if (!field) return std::nullopt;
    Condition::Clause written{*field, {}, {}};
    for (const auto value : column.values) {
        auto parsed = parse_alternative(*field, value);
        if (std::holds_alternative<ValueProblem>(parsed)) return std::nullopt;
        written.any_of.push_back(std::get<std::vector<Predicate>>(std::move(parsed)));
    }
    clause.field = *field;
    clause.test.emplace(written);
    return clause;
}

bool has_condition(const KnownProblem& problem, std::string_view name) {
    return std::ranges::any_of(problem.when, [&](const auto& clause) { return clause.name() == name; });
}

// The names in braces that are in none of the conditions.
void check_sentence(const KnownProblem& problem, std::string_view column, std::vector<std::string>& found) {
    auto text = problem.row.text(column);
    for (auto open = text.find('{'); open != text.npos; open = text.find('{')) {
        text.remove_prefix(open + 1);
        const auto name = text.substr(0, text.find('}'));
        if (!has_condition(problem, name))
            found.push_back(fmt::format("column '{}' says {{{}}}: expected a field or package of its when",
                                        column, name));
    }
}

}  // namespace

std::string_view KnownProblem::Clause::name() const {
    return package.empty() ? info(field).name : package;
}

namespace facts {

std::span<const ProblemRule> problem_rules() {
    static constexpr ProblemRule kRules[] = {
        {"compiler-known-broken", {Field::compiler, Field::cuda, Field::arch}},
        {"container-toolkit-vulnerable", {Field::toolkit}, true},
        {"known-defect", {Field::cuda, Field::compute}},
        {"packages-run-together", {Field::packages}},
    };
    static_assert(std::size(kRules) == kProblemRules);
    return kRules;
}

const ProblemRule* problem_rule(std::string_view id) {
    const auto rule = std::ranges::find(problem_rules(), id, &ProblemRule::id);
    return rule == problem_rules().end() ? nullptr : &*rule;
}

std::optional<KnownProblem> known_problem(const Row& row) {
    KnownProblem problem{row, {}};
    for (const auto& column : row.columns()) {
        if (!column.name.starts_with(kWhen)) continue;
        auto clause = read_clause(column);
        if (!clause) return std::nullopt;
        problem.when.push_back(*std::move(clause));
    }
    return problem;
}

std::optional<std::string> mistake_in_condition(std::string_view column, std::string_view value) {
    const bool is_fix = column.starts_with(kFix);
    const auto name = after(is_fix ? kFix : kWhen, column);
    if (name.starts_with(kPackage)) {
        if (is_fix ? value == "another" || value == "none" : pep440::Specifiers::parse(value).has_value())
            return std::nullopt;
        return fmt::format("column '{}' holds '{}': expected {}", column, value,
                           is_fix ? "another or none" : "clauses such as >=2.0,<3");
    }
    const auto field = field_named(name);
    if (!field || info(*field).syntax == Syntax::string_map)
        return fmt::format("column '{}': expected a field with a single value, or packages", column);
    if (is_fix && *field == Field::cuda && value == "newer") return std::nullopt;
    std::optional<ValueProblem> problem;
    if (is_fix) {
        problem = check_scalar(*field, value);
    } else if (auto parsed = parse_alternative(*field, value); std::holds_alternative<ValueProblem>(parsed)) {
        problem = std::get<ValueProblem>(std::move(parsed));
    }
    return problem ? std::optional(fmt::format("column '{}': {}", column, problem->message)) : std::nullopt;
}

std::vector<std::string> mistakes_in(const KnownProblem& problem) {
    std::vector<std::string> found;
    const auto& row = problem.row;
    const auto* rule = problem_rule(row.text("rule"));
    if (rule == nullptr) {
        std::vector<std::string> ids;
        for (const auto& each : problem_rules())
            ids.emplace_back(each.id);
        found.push_back(fmt::format("column 'rule' holds '{}': expected one of {}", row.text("rule"),
                                    text::join(ids, ", ")));
    }
    if (problem.when.empty()) found.emplace_back("column 'when' is missing");
    if (rule != nullptr && rule->adds_up == row.has("asks"))
        found.push_back(rule->adds_up
                            ? fmt::format("column 'asks': expected none, {} does not ask it", rule->id)
                            : "column 'asks' is missing");
    for (const auto& clause : problem.when) {
        const auto column = fmt::format("{}{}{}", kWhen, clause.test ? "" : kPackage, clause.name());
        if (rule != nullptr && !rule->fields.contains(clause.field))
            found.push_back(fmt::format("column '{}': rule {} does not look at it", column, rule->id));
        if (clause.test ? clause.test->excludes(*clause.test) : clause.versions.excludes(clause.versions))
            found.push_back(fmt::format("column '{}' holds '{}': expected clauses that a version meets",
                                        column, row.text(column)));
        if (!clause.test) continue;
        const auto fix = fmt::format("{}{}", kFix, clause.name());
        for (const auto value : row.list(fix)) {
            if (clause.test->holds({Operand(clause.field, value)}))
                found.push_back(
                    fmt::format("column '{}' holds '{}': expected a value that its when spares", fix, value));
        }
    }
    for (const auto& column : row.columns()) {
        if (column.name.starts_with(kFix) &&
            !has_condition(problem, after(kPackage, after(kFix, column.name))))
            found.push_back(fmt::format("column '{}': expected a field or package of its when", column.name));
    }
    for (const auto column : {"says", "says_of_some", "asks"})
        check_sentence(problem, column, found);
    return found;
}

bool overlap(const KnownProblem& a, const KnownProblem& b) {
    return !a.when.empty() && std::ranges::all_of(a.when, [&](const KnownProblem::Clause& clause) {
        const auto other = std::ranges::find_if(
            b.when, [&](const KnownProblem::Clause& each) { return each.name() == clause.name(); });
        if (other == b.when.end()) return clause.test.has_value();  // other packages are other problems
        return clause.test ? !clause.test->excludes(*other->test)
                           : !clause.versions.excludes(other->versions);
    });
}

}  // namespace facts
}  // namespace cudamatrix
