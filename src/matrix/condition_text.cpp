#include "matrix/condition_text.hpp"

#include "base/text.hpp"
#include "matrix/condition.hpp"

namespace cudamatrix {
namespace {

Result<Field> field_of(std::string_view name) {
    if (const auto field = field_named(name)) {
        if (info(*field).syntax != Syntax::string_map) return *field;
        return input_failure(
            fmt::format("{} cannot be used in a condition: expected a field with a single value", name));
    }
    std::vector<std::string> names;
    for (const auto& field : all_fields())
        names.emplace_back(field.name);
    const auto near = name.size() > 100 ? std::nullopt : text::did_you_mean(name, names);
    return input_failure(fmt::format("unknown field {}", in_quotes(name)),
                         near ? fmt::format("did you mean {}?", *near)
                              : "write FIELD=VALUE, as in driver=470.161.03,cuda=12.4.1");
}

Condition::Clause& clause_of(Condition& condition, Field field) {
    for (auto& clause : condition.clauses) {
        if (clause.field == field) return clause;
    }
    condition.clauses.push_back({field, {}, {}});
    return condition.clauses.back();
}

}  // namespace

Result<Condition> condition_from_text(std::string_view text) {
    Condition condition;
    for (const auto& part : text::split(text, ',')) {
        const auto equals = part.find('=');
        // "driver=>=450,<525": what names no field goes on with the range before it.
        const bool continues = !condition.clauses.empty() && part.find_first_of("<>=!") == 0;
        if (!continues && equals == std::string::npos) {
            return input_failure(fmt::format("{}: expected FIELD=VALUE", in_quotes(part)),
                                 "as in driver=470.161.03,cuda=12.4.1");
        }
        if (continues) {
            auto& clause = condition.clauses.back();
            auto more = parse_alternative(clause.field, text::trim(part));
            if (const auto* problem = std::get_if<ValueProblem>(&more))
                return input_failure(problem->message, problem->fix);
            for (auto& predicate : std::get<std::vector<Predicate>>(more))
                clause.any_of.back().push_back(std::move(predicate));
            continue;
        }
        const auto field = field_of(text::trim(std::string_view(part).substr(0, equals)));
        if (!field.ok()) return field.failure();
        auto alternative = parse_alternative(*field, text::trim(std::string_view(part).substr(equals + 1)));
        if (const auto* problem = std::get_if<ValueProblem>(&alternative))
            return input_failure(problem->message, problem->fix);
        clause_of(condition, *field)
            .any_of.push_back(std::get<std::vector<Predicate>>(std::move(alternative)));
    }
    return condition;
}

}  // namespace cudamatrix
