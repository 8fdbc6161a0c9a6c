#include "knowledge/solve/fixes.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "knowledge/judge/evaluate.hpp"
#include "knowledge/solve/variable.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::solve {
namespace {

void add_nothing(Variable& variable) {
    if (!variable.nothing()) variable.values.emplace_back(std::nullopt);
}

// A variable for each field and package that the option sets or leaves out.
void make_room(std::vector<Variable>& variables, const Cell& cell, Field field, const Value& value) {
    const auto has = [&](std::string_view package) {
        return std::any_of(variables.begin(), variables.end(), [&](const Variable& variable) {
            return variable.field == field && variable.package == package;
        });
    };
    if (field != Field::packages) {
        if (!has({})) variables.push_back({.field = field, .values = {value, std::nullopt}});
        return;
    }
    for (const auto& [name, version] : value.items) {
        if (!has(name)) variables.push_back({field, name, {Value{version, {}, {}}, std::nullopt}, true});
    }
    const auto* present = cell.get(field);
    for (auto& variable : variables) {
        if (variable.field == field && present != nullptr && !index_of(variable, value))
            add_nothing(variable);
    }
}

std::vector<Variable> variables_for(const Facts& facts, const Cell& cell,
                                    const std::vector<Finding*>& findings, bool with_known_values) {
    auto variables = with_known_values ? neighbourhood(facts, cell) : variables_of(cell);
    for (const auto* finding : findings) {
        for (const auto& option : finding->fixes) {
            for (const auto& [field, text] : option.set) {
                const auto value = value_from_text(field, text);
                if (std::holds_alternative<ValueProblem>(value)) continue;
                offer(variables, field, text);
                make_room(variables, cell, field, std::get<Value>(value));
            }
        }
    }
    std::stable_sort(variables.begin(), variables.end(), [](const Variable& a, const Variable& b) {
        return change_cost(a.field) < change_cost(b.field);
    });
    return variables;
}

void prefer_same_distribution(const Variable& variable, std::uint32_t present,
                              std::vector<std::uint32_t>& values) {
    const auto name_of = [&](std::uint32_t value) {
        const auto& text = variable.values[value]->text;
        return std::string_view(text).substr(0, text.find_first_of("0123456789"));
    };
    if (!variable.values[present]) return;
    std::stable_partition(values.begin(), values.end(),
                          [&](std::uint32_t value) { return name_of(value) == name_of(present); });
}

// Another question of the same rule that was good enough and no longer is.
bool says_worse(const rules::Findings& before, const rules::Findings& found) {
    return std::any_of(found.begin(), found.end(), [&](const Finding& now) {
        return now.verdict() > kGoodEnough &&
               std::none_of(before.begin(), before.end(), [&](const Finding& then) {
                   return then.aspect == now.aspect && then.verdict() >= now.verdict();
               });
    });
}

}  // namespace

Repair::Repair(const Facts& facts, const std::string& today, const Cell& cell, const Setting& setting,
               const std::vector<Finding*>& findings, bool with_known_values)
    : cache_(facts, today, variables_for(facts, cell, findings, with_known_values), setting),
      present_(assignment_of(cache_.variables(), cell)) {
    for (std::size_t rule = 0; rule < cache_.size(); ++rule)
        bounds_.push_back(std::max(cache_.verdict(rule, present_), kGoodEnough));
}

void Repair::look_at(const Finding& finding) {
    finding_ = &finding;
    before_.clear();
    answers_.clear();
    for (std::size_t rule = 0; rule < cache_.size(); ++rule) {
        if (cache_.rule(rule).id == finding.rule) before_[rule] = cache_.findings(rule, present_);
    }
}

bool Repair::is_read(std::size_t variable) const {
    return std::any_of(before_.begin(), before_.end(), [&](const auto& entry) {
        const auto& reads = cache_.reads(entry.first);
        return std::find(reads.begin(), reads.end(), variable) != reads.end();
    });
}

std::optional<Assignment> Repair::after(const FixOption& option) const {
    auto assignment = present_;
    for (const auto& [field, text] : option.set) {
        auto value = value_from_text(field, text);
        if (std::holds_alternative<ValueProblem>(value)) return std::nullopt;
        for (std::size_t i = 0; i < assignment.size(); ++i) {
            const auto& variable = cache_.variables()[i];
            if (variable.field != field) continue;
            const auto at = index_of(variable, std::get<Value>(value));
            if (!at && !variable.nothing()) return std::nullopt;
            assignment[i] = at ? *at : *variable.nothing();
        }
    }
    return assignment;
}

bool Repair::works(const Assignment& assignment) {
    for (std::size_t rule = 0; rule < cache_.size(); ++rule) {
        if (is_touched(rule, assignment) && !allows(rule, assignment)) return false;
    }
    return true;
}

bool Repair::is_refused(const Assignment& assignment) {
    for (std::size_t rule = 0; rule < cache_.size(); ++rule) {
        if (is_touched(rule, assignment) && cache_.verdict(rule, assignment) > kGoodEnough) return true;
    }
    return false;
}

std::optional<Assignment> Repair::first(const Domains& domains, std::uint64_t& budget) {
    return prefer_kept(cache_.variables(), domains, [&](const Domains& some) {
        Search search(cache_, some, [&](std::size_t rule, const Assignment& assignment) {
            return allows(rule, assignment);
        });
        return search.first(budget);
    });
}

Domains Repair::only(const Assignment& assignment) {
    Domains domains;
    for (const auto pick : assignment)
        domains.push_back({pick});
    return domains;
}

std::vector<std::uint32_t> Repair::values_of(std::size_t variable, std::optional<std::uint32_t> floor) const {
    const auto& about = cache_.variables()[variable];
    std::vector<std::uint32_t> out;
    const auto is_open = [&](std::uint32_t value) {
        return value != present_[variable] && about.values[value].has_value();
    };
    if (floor) {
        for (auto value = *floor; value-- > 0;) {
            if (is_open(value)) out.push_back(value);
        }
        return out;
    }
    for (std::uint32_t value = 0; value < about.values.size(); ++value) {
        if (is_open(value)) out.push_back(value);
    }
    if (about.field == Field::os) prefer_same_distribution(about, present_[variable], out);
    return out;
}

FixOption Repair::option_of(const Assignment& assignment, std::string text, const Assignment* said) {
    FixOption out{std::move(text), {}, {}};
    const auto cell = cache_.cell(assignment);
    bool packages = false;
    for (std::size_t i = 0; i < assignment.size(); ++i) {
        const auto& variable = cache_.variables()[i];
        if (assignment[i] == present_[i]) continue;
        const auto& value = variable.values[assignment[i]];
        if (said == nullptr || (*said)[i] != assignment[i]) {
            out.text += out.text.empty() ? "" : " and ";
            out.text += value ? fmt::format("{} {}", variable.name(), value->text)
                              : fmt::format("leave {} out", variable.name());
        }
        if (variable.field != Field::packages) {
            out.set.emplace_back(variable.field, value ? value->text : std::string());
        } else if (!std::exchange(packages, true)) {
            const auto* all = cell.get(Field::packages);
            out.set.emplace_back(Field::packages, all == nullptr ? std::string() : all->text);
        }
    }
    return out;
}

bool Repair::is_touched(std::size_t rule, const Assignment& assignment) const {
    const auto& reads = cache_.reads(rule);
    return std::any_of(reads.begin(), reads.end(),
                       [&](std::size_t variable) { return assignment[variable] != present_[variable]; });
}

bool Repair::allows(std::size_t rule, const Assignment& assignment) {
    const auto own = before_.find(rule);
    if (own != before_.end() &&
        std::find(assignment.begin(), assignment.end(), kUnassigned) != assignment.end())
        return true;  // whether a finding vanishes is known of whole cells only
    if (own == before_.end()) return cache_.verdict(rule, assignment) <= bounds_[rule];
    std::vector<std::uint32_t> key{static_cast<std::uint32_t>(rule)};
    for (const auto variable : cache_.reads(rule))
        key.push_back(assignment[variable]);
    const auto [known, is_new] = answers_.emplace(std::move(key), false);
    if (is_new) {
        const auto found = cache_.findings(rule, assignment);
        known->second = rules::vanished(*finding_, found) && !says_worse(own->second, found);
    }
    return known->second;
}

}  // namespace cudamatrix::solve
