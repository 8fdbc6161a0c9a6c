#include "matrix/condition.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "matrix/matrix.hpp"
#include "matrix/reader.hpp"
#include "matrix/value.hpp"

namespace cudamatrix {
namespace {

using Op = Predicate::Op;

// 9.0a is another target than 9.0, and 3.13t another ABI than 3.13; a torch without +cuXXX means any of its
// builds.
bool suffix_is_part_of_it(Field field) {
    return field == Field::compute || field == Field::python;
}

// gcc of "gcc-11.4": a range holds within one name. Versions have none.
std::string_view name_in(Field field, std::string_view text) {
    return field == Field::compiler ? text.substr(0, text.find('-') + 1) : std::string_view();
}

std::optional<Version> version_in(Field field, std::string_view text) {
    if (field != Field::compiler) return version_of(field, text);
    return Version::parse(text.substr(name_in(field, text).size()));
}

bool equal(Field field, const Operand& wanted, const Operand& found) {
    if (field == Field::compiler || !wanted.version || !found.version) return wanted.lower == found.lower;
    if (!wanted.version->covers(*found.version)) return false;
    if (wanted.version->suffix().empty() && !suffix_is_part_of_it(field)) return true;
    return wanted.version->suffix() == found.version->suffix();
}

struct Prefix {
    std::string_view text;
    Op op;
};
constexpr std::array<Prefix, 7> kPrefixes{{{"<=", Op::less_equal},
                                           {">=", Op::greater_equal},
                                           {"!=", Op::not_equal},
                                           {"==", Op::equal},
                                           {"<", Op::less},
                                           {">", Op::greater},
                                           {"=", Op::equal}}};

// The sign that `text` starts with; an equality without one.
Prefix prefix_of(std::string_view text) {
    const auto found =
        std::ranges::find_if(kPrefixes, [&](const Prefix& prefix) { return text.starts_with(prefix.text); });
    return found == kPrefixes.end() ? Prefix{{}, Op::equal} : *found;
}

std::variant<Predicate, ValueProblem> parse_predicate(Field field, std::string_view text) {
    Predicate predicate;
    predicate.op = prefix_of(text).op;
    text = sign_and_value(text).second;
    const bool is_range = predicate.op != Op::equal && predicate.op != Op::not_equal;
    if (is_range && !has_ranges(field))
        return ValueProblem{fmt::format("{}: ranges compare versions, but {} is text: expected a value, a "
                                        "list or a pattern with '*'",
                                        info(field).name, info(field).name),
                            {}};
    if (text.find_first_of("*?") != std::string_view::npos && !is_range) {
        if (text.size() > 64 || !text::only(text, "*? ._+:/@()-") || predicate.op == Op::not_equal)
            return ValueProblem{fmt::format("invalid {} {}: expected a pattern such as 470.*",
                                            info(field).name, in_quotes(text)),
                                {}};
        predicate.op = Op::glob;
    } else if (auto problem = check_scalar(field, text)) {
        return std::move(*problem);
    } else if (is_range && !version_in(field, text)) {
        return ValueProblem{fmt::format("{} {}: a range needs a version", info(field).name, in_quotes(text)),
                            {}};
    }
    predicate.operand = text;
    return predicate;
}

Result<Field> field_of(std::string_view name) {
    if (const auto field = field_named(name)) {
        if (info(*field).syntax != Syntax::string_map) return *field;
        return input_failure(
            fmt::format("{} cannot be used in a condition: expected a field with a single value", name));
    }
    return input_failure(
        fmt::format("unknown field {}", in_quotes(name)),
        text::did_you_mean_or(name, field_names(), "write FIELD=VALUE, as in driver=470.161.03,cuda=12.4.1"));
}

Condition::Clause& clause_of(Condition& condition, Field field) {
    for (auto& clause : condition.clauses) {
        if (clause.field == field) return clause;
    }
    condition.clauses.push_back({field, {}, {}});
    return condition.clauses.back();
}

}  // namespace

Operand::Operand(Field field, std::string_view value)
    : lower(text::lower(value)), version(version_in(field, value)) {}

ClauseTest::ClauseTest(const Condition::Clause& clause) : field_(clause.field) {
    for (const auto& all : clause.any_of) {
        auto& tests = any_of_.emplace_back();
        for (const Predicate& each : all)
            tests.push_back({each.op, Operand(field_, each.operand)});
    }
}

bool ClauseTest::passes(const Test& test, const Operand& value) const {
    if (test.op == Op::equal) return equal(field_, test.operand, value);
    if (test.op == Op::not_equal) return !equal(field_, test.operand, value);
    if (test.op == Op::glob) return text::glob_match(test.operand.lower, value.lower);
    if (!test.operand.version || !value.version ||
        name_in(field_, test.operand.lower) != name_in(field_, value.lower))
        return false;
    const Version& limit = *test.operand.version;
    const Version& found = *value.version;
    // "12.4" as a limit means all of 12.4: "<=12.4" takes 12.4.1, ">12.4" does not.
    switch (test.op) {
        case Op::less:
            return found < limit;
        case Op::less_equal:
            return found <= limit || limit.covers(found);
        case Op::greater:
            return found > limit && !limit.covers(found);
        default:
            return found >= limit;
    }
}

bool ClauseTest::holds(const std::vector<Operand>& value) const {
    return std::any_of(value.begin(), value.end(), [&](const Operand& operand) {
        return std::any_of(any_of_.begin(), any_of_.end(), [&](const std::vector<Test>& all) {
            return std::all_of(all.begin(), all.end(),
                               [&](const Test& test) { return passes(test, operand); });
        });
    });
}

bool ClauseTest::splits(const Operand& value) const {
    return std::any_of(any_of_.begin(), any_of_.end(), [&](const std::vector<Test>& all) {
        return std::any_of(all.begin(), all.end(), [&](const Test& test) {
            const auto& limit = test.operand.version;
            return limit && value.version && limit->size() > value.version->size() &&
                   value.version->covers(*limit) &&
                   name_in(field_, test.operand.lower) == name_in(field_, value.lower);
        });
    });
}

bool ClauseTest::excludes(const ClauseTest& other) const {
    const auto both_hold = [&](const Operand& value) { return holds({value}) && other.holds({value}); };
    // Two that are open at the same end meet there.
    const auto meet = [&](const Test& test) {
        const auto name = name_in(field_, test.operand.lower);
        return both_hold(test.operand) || both_hold({field_, fmt::format("{}0", name)}) ||
               both_hold({field_, fmt::format("{}999999", name)});
    };
    return std::ranges::none_of(std::array{this, &other}, [&](const ClauseTest* side) {
        return std::ranges::any_of(
            side->any_of_, [&](const std::vector<Test>& all) { return std::ranges::any_of(all, meet); });
    });
}

std::vector<Operand> operands_of(Field field, const Value* value) {
    std::vector<Operand> out;
    if (value == nullptr) return out;
    if (info(field).syntax != Syntax::name_list) return {Operand(field, value->text)};
    for (const auto& item : value->items)
        out.emplace_back(field, item.first);
    return out;
}

bool has_ranges(Field field) {
    return compares_as_version(field) || field == Field::compiler;
}

std::pair<std::string_view, std::string_view> sign_and_value(std::string_view text) {
    text = text::trim(text);
    const auto sign = prefix_of(text).text;
    return {sign, text::trim(text.substr(sign.size()))};
}

std::variant<std::vector<Predicate>, ValueProblem> parse_alternative(Field field, std::string_view text) {
    std::vector<Predicate> all;
    // Only versions have conjunctions: a comma in a text field is refused by its own syntax.
    const auto parts =
        has_ranges(field) ? text::split(text, ',') : std::vector<std::string>{std::string(text)};
    for (const auto& part : parts) {
        auto parsed = parse_predicate(field, text::trim(part));
        if (auto* problem = std::get_if<ValueProblem>(&parsed)) return std::move(*problem);
        all.push_back(std::get<Predicate>(std::move(parsed)));
    }
    return all;
}

std::string alternative_text(const std::vector<Predicate>& all) {
    std::vector<std::string> parts;
    for (const Predicate& each : all) {
        const auto* sign = std::ranges::find(kPrefixes, each.op, &Prefix::op);
        const bool plain = each.op == Op::equal || each.op == Op::glob;
        parts.push_back(plain ? each.operand : fmt::format("{}{}", sign->text, each.operand));
    }
    return text::join(parts, ",");
}

bool matches(const Condition::Clause& clause, const Cell& cell) {
    return ClauseTest(clause).holds(operands_of(clause.field, cell.get(clause.field)));
}

bool matches(const Condition& condition, const Cell& cell) {
    return std::all_of(condition.clauses.begin(), condition.clauses.end(),
                       [&](const Condition::Clause& clause) { return matches(clause, cell); });
}

std::string alternatives_text(const Condition::Clause& clause) {
    constexpr std::array<std::string_view, 7> signs{"", "!= ", "< ", "<= ", "> ", ">= ", ""};
    std::vector<std::string> alternatives;
    for (const auto& all : clause.any_of) {
        std::vector<std::string> parts;
        for (const Predicate& each : all)
            parts.push_back(fmt::format("{}{}", signs[static_cast<std::size_t>(each.op)], each.operand));
        alternatives.push_back(text::join(parts, " and "));
    }
    return text::join(alternatives, " or ");
}

Result<Condition> condition_from_text(std::string_view text) {
    Condition condition;
    Field field{};
    for (const auto& part : text::split(text, ',')) {
        const auto equals = part.find('=');
        // "driver=>=450,<525": what names no field goes on with the range before it.
        const bool continues = !condition.clauses.empty() && part.find_first_of("<>=!") == 0;
        if (!continues && equals == std::string::npos)
            return input_failure(fmt::format("{}: expected FIELD=VALUE", in_quotes(part)),
                                 "as in driver=470.161.03,cuda=12.4.1");
        if (!continues) {
            CM_TRY_ASSIGN(field, field_of(text::trim(std::string_view(part).substr(0, equals))));
        }
        auto parsed =
            parse_alternative(field, text::trim(std::string_view(part).substr(continues ? 0 : equals + 1)));
        if (const auto* problem = std::get_if<ValueProblem>(&parsed))
            return input_failure(problem->message, problem->fix);
        auto& predicates = std::get<std::vector<Predicate>>(parsed);
        auto& any_of = clause_of(condition, field).any_of;
        if (continues) {
            any_of.back().insert(any_of.back().end(), predicates.begin(), predicates.end());
        } else {
            any_of.push_back(std::move(predicates));
        }
    }
    return condition;
}

}  // namespace cudamatrix
