#include "knowledge/solve/suggest.hpp"

#include <algorithm>
#include <numeric>

#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/facts/pep440.hpp"
#include "matrix/condition.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::solve {
namespace {

// The variables of every search, and their order: what comes first is tried the slowest, so it ranks first.
constexpr std::array kOrder{Field::torch,  Field::python, Field::cuda, Field::packages,
                            Field::driver, Field::gpu,    Field::os,   Field::arch};

bool is_always_there(Field field) {
    return field == Field::torch || field == Field::python || field == Field::driver;
}

bool is_plain(const std::vector<Predicate>& all) {
    return all.size() == 1 && all.front().op == Predicate::Op::equal;
}

// The ends of what is known: "11.8.0 to 13.4.3".
std::string known_range(const Variable& variable) {
    if (variable.values.empty()) return "nothing";
    if (!variable.ordered || variable.field == Field::gpu) {
        std::vector<std::string> names;
        for (const auto& value : variable.values)
            names.push_back(value->text);
        if (names.size() > 8) {
            names.resize(8);
            names.emplace_back("...");
        }
        return text::join(names, ", ");
    }
    return fmt::format("{} to {}", variable.values.back()->text, variable.values.front()->text);
}

Diagnostic unknown_value(const Variable& variable, std::string_view text, std::vector<std::string> names) {
    if (names.empty()) {
        for (const auto& value : variable.values)
            names.push_back(value->text);
    }
    const auto near = text::did_you_mean(text, names);
    return Diagnostic::error(fmt::format("no fact knows {} {}: expected {}", variable.name(), in_quotes(text),
                                         known_range(variable)))
        .with_fix(near ? fmt::format("did you mean {}?", *near) : "");
}

bool is_known(const Facts& facts, Field field, const std::string& text) {
    switch (field) {
        case Field::driver: {
            const auto found = lookup::driver(facts, text);
            return found && found->branch;
        }
        case Field::gpu:
            return lookup::gpu(facts, text).has_value();
        case Field::torch: {
            const auto found = lookup::torch(facts, text, "x86_64");
            return text == "none" || (found && found->release);
        }
        case Field::python:
            return lookup::python(facts, text).has_value();
        case Field::cuda:
            return lookup::cuda(facts, text).has_value();
        case Field::os:
            return lookup::os(facts, text).has_value();
        default:
            return true;  // a closed list of choices, checked with the syntax
    }
}

// An alias stands where its GPU stands.
std::uint32_t add_exact(const Facts& facts, Variable& variable, Value value) {
    if (variable.field == Field::gpu && !variable.find(value.text)) {
        const auto row = lookup::gpu(facts, value.text);
        if (const auto at = row ? variable.find(row->text("name")) : std::nullopt; at) {
            variable.insert(*at, std::move(value));
            return *at;
        }
    }
    return variable.add(std::move(value));
}

std::vector<std::uint32_t> matching(const Variable& variable, const Condition::Clause& clause) {
    const ClauseTest test(clause);
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i < variable.values.size(); ++i) {
        if (variable.values[i] && test.holds(operands_of(variable.field, &*variable.values[i])))
            out.push_back(i);
    }
    return out;
}

class Reading {
  public:
    explicit Reading(const Facts& facts) : facts_(facts) {}

    void field(Field field, const std::string& text) {
        if (text.empty() || text.size() > 64) {
            return fail(Diagnostic::error(fmt::format(
                "invalid {} {}: expected {}{}", info(field).name, in_quotes(text), info(field).accepts,
                compares_as_version(field) ? ", or a range such as \">=1.2,<2\"" : "")));
        }
        auto parsed = parse_alternative(field, text);
        if (auto* problem = std::get_if<ValueProblem>(&parsed))
            return fail(Diagnostic::error(std::move(problem->message)).with_fix(std::move(problem->fix)));
        auto& all = std::get<std::vector<Predicate>>(parsed);
        auto variable = variable_of(facts_, field);
        Constraint constraint{0, text, {}, is_plain(all)};
        const auto& operand = all.front().operand;
        const auto nightly = field == Field::torch && constraint.exact ? nightly_of(operand) : std::nullopt;
        if (nightly) {
            return fail(Diagnostic::error(fmt::format("torch {} is a nightly build: {}", operand,
                                                      facts_.row("policy-torch-nightlies")->text("says")))
                            .with_fix(fmt::format("ask for torch {}", nightly->release())));
        }
        if (constraint.exact && !is_known(facts_, field, operand))
            return fail(
                unknown_value(variable, operand,
                              field == Field::gpu ? lookup::gpu_names(facts_) : std::vector<std::string>{}));
        // A torch without a variant is any of its builds.
        const bool any_build =
            field == Field::torch && operand.find('+') == std::string::npos && operand != "none";
        if (constraint.exact && !any_build) {
            constraint.allowed = {
                add_exact(facts_, variable, std::get<Value>(value_from_text(field, operand)))};
        } else {
            constraint.allowed = matching(variable, {field, {std::move(all)}, {}});
        }
        if (constraint.allowed.empty())
            return fail(Diagnostic::error(fmt::format("no known {} is {}: expected {}", variable.name(),
                                                      in_quotes(text), known_range(variable))));
        keep(std::move(variable), std::move(constraint));
    }

    void need(const std::string& text) {
        const auto need = need_of(text);
        if (!need) {
            return fail(
                Diagnostic::error(fmt::format("invalid --need {}: expected a package with a version, such as "
                                              "transformers==4.27.4 or timm>=0.6",
                                              in_quotes(text))));
        }
        const auto& [name, canonical, clauses, versions] = *need;
        const auto names = package_names(facts_);
        if (std::find(names.begin(), names.end(), canonical) == names.end()) {
            const auto near = text::did_you_mean(canonical, names);
            return fail(Diagnostic::error(fmt::format("no fact knows package {}", in_quotes(name)))
                            .with_fix(near ? fmt::format("did you mean {}?", *near)
                                           : "leave it out, nothing is known of it"));
        }
        if (std::find(needed_.begin(), needed_.end(), canonical) != needed_.end())
            return fail(
                Diagnostic::error(fmt::format("--need {}: {} is needed twice", in_quotes(text), canonical))
                    .with_fix("join the two with a comma, as in \"timm>=0.6,<1\""));
        needed_.push_back(canonical);
        auto variable = variable_of_package(facts_, name);
        Constraint constraint{0, text, {}, false};
        if (variable.values.empty()) return unlisted(std::move(variable), std::move(constraint), clauses);
        for (std::uint32_t i = 0; i < variable.values.size(); ++i) {
            if (versions.admits(*pep440::Version::parse(variable.values[i]->text)))
                constraint.allowed.push_back(i);
        }
        constraint.exact = constraint.allowed.size() == 1;
        if (constraint.allowed.empty()) {
            std::vector<std::string> known;
            for (const auto& value : variable.values)
                known.push_back(value->text);
            const auto near = text::did_you_mean(clauses.substr(clauses.find_last_of("<>=!~") + 1), known);
            return fail(Diagnostic::error(fmt::format("no known release of {} is {}: expected {}", canonical,
                                                      in_quotes(clauses), known_range(variable)))
                            .with_fix(near ? fmt::format("did you mean {}?", *near) : ""));
        }
        variable.values.emplace_back(std::nullopt);  // what is left of a need that is given up
        keep(std::move(variable), std::move(constraint));
    }

    Result<SearchProblem> take() {
        if (problems_.empty() && out_.constraints.empty())
            problems_.push_back(Diagnostic::error("nothing is asked for")
                                    .with_fix("say what you have, e.g. --gpu T4 --driver 470.161.03"));
        if (problems_.empty() && out_.constraints.size() > kMostConstraints)
            problems_.push_back(Diagnostic::error(
                fmt::format("{} demands: at most {} are taken", out_.constraints.size(), kMostConstraints)));
        if (!problems_.empty()) return Failure{ExitCode::bad_input, std::move(problems_)};
        for (const auto field : kOrder) {
            const bool asked = std::any_of(out_.variables.begin(), out_.variables.end(),
                                           [&](const Variable& variable) { return variable.field == field; });
            if (is_always_there(field) && !asked) out_.variables.push_back(variable_of(facts_, field));
        }
        for (auto& variable : out_.variables) {
            // For proofs that need no word about it: no stack goes without it.
            if (variable.package.empty()) variable.values.emplace_back(std::nullopt);
        }
        sort();
        return std::move(out_);
    }

  private:
    void fail(Diagnostic problem) { problems_.push_back(std::move(problem)); }

    // No image is rendered on some systems: they are none to propose, unless they are asked for.
    void leave_out_unrendered(Variable& variable, Constraint& constraint) const {
        const auto is_proposed = [&](std::uint32_t value) {
            const auto row = lookup::os(facts_, variable.values[value]->text);
            return !row || row->has("package_manager") ||
                   std::binary_search(constraint.allowed.begin(), constraint.allowed.end(), value);
        };
        std::vector<std::optional<Value>> values;
        std::vector<std::uint32_t> allowed;
        for (std::uint32_t value = 0; value < variable.values.size(); ++value) {
            if (!is_proposed(value)) continue;
            if (std::binary_search(constraint.allowed.begin(), constraint.allowed.end(), value))
                allowed.push_back(static_cast<std::uint32_t>(values.size()));
            values.push_back(std::move(variable.values[value]));
        }
        variable.values = std::move(values);
        constraint.allowed = std::move(allowed);
    }

    void keep(Variable variable, Constraint constraint) {
        if (variable.field == Field::os) leave_out_unrendered(variable, constraint);
        constraint.variable = out_.variables.size();
        out_.variables.push_back(std::move(variable));
        out_.constraints.push_back(std::move(constraint));
    }

    // A package that facts speak of without listing its releases: a pin is taken as it is.
    void unlisted(Variable variable, Constraint constraint, const std::string& clauses) {
        const auto version =
            clauses.starts_with("==") ? std::string(text::trim(std::string_view(clauses).substr(2))) : "";
        if (version.empty() || check_member(Field::packages, variable.package, version))
            return fail(
                Diagnostic::error(fmt::format("no fact lists the releases of {}: expected {}==VERSION",
                                              variable.package, variable.package)));
        Value value;
        value.text = version;
        variable.values = {std::move(value), std::nullopt};
        constraint.allowed = {0};
        constraint.exact = true;
        keep(std::move(variable), std::move(constraint));
    }

    // The variables in the order of kOrder; constraints follow theirs.
    void sort() {
        const auto rank = [](const Variable& variable) {
            return std::find(kOrder.begin(), kOrder.end(), variable.field) - kOrder.begin();
        };
        std::vector<std::size_t> from(out_.variables.size());
        std::iota(from.begin(), from.end(), std::size_t{0});
        std::stable_sort(from.begin(), from.end(), [&](std::size_t a, std::size_t b) {
            return rank(out_.variables[a]) < rank(out_.variables[b]);
        });
        std::vector<Variable> variables;
        std::vector<std::size_t> to(from.size());
        for (std::size_t i = 0; i < from.size(); ++i) {
            to[from[i]] = i;
            variables.push_back(std::move(out_.variables[from[i]]));
        }
        out_.variables = std::move(variables);
        for (auto& constraint : out_.constraints)
            constraint.variable = to[constraint.variable];
    }

    const Facts& facts_;
    SearchProblem out_;
    std::vector<std::string> needed_;
    std::vector<Diagnostic> problems_;
};

}  // namespace

const std::vector<Field>& query_fields() {
    static const std::vector<Field> fields{Field::gpu,  Field::driver, Field::torch, Field::python,
                                           Field::cuda, Field::os,     Field::arch};
    return fields;
}

std::optional<Need> need_of(std::string_view text) {
    const auto end = std::min(text.find_first_of("<>=!~ "), text.size());
    Need need{std::string(text.substr(0, end)), {}, std::string(text::trim(text.substr(end))), {}};
    auto versions = pep440::Specifiers::parse(need.clauses);
    // The name alone is checked: any version will do for that.
    if (!versions || text.size() > 96 || check_member(Field::packages, need.name, "1")) return std::nullopt;
    need.package = pep440::canonical_name(need.name);
    need.versions = *std::move(versions);
    return need;
}

Result<SearchProblem> search_problem(const Facts& facts, const Query& query) {
    Reading reading(facts);
    for (const auto& [field, text] : query.fields)
        reading.field(field, text);
    for (const auto& need : query.needs)
        reading.need(need);
    return reading.take();
}

}  // namespace cudamatrix::solve
