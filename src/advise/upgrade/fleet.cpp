#include "advise/upgrade/fleet.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "advise/upgrade/newer_values.hpp"
#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/judge/own_rules.hpp"
#include "knowledge/solve/explain.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::upgrade {
namespace {

constexpr std::array kMoving{Field::torch,  Field::image,  Field::cuda,
                             Field::driver, Field::python, Field::os};

std::string_view text_of(const Cell& cell, const solve::Variable& variable) {
    const auto* value = cell.get(variable.field);
    if (value == nullptr) return {};
    if (variable.package.empty()) return value->text;
    for (const auto& [name, version] : value->items) {
        if (name == variable.package) return version;
    }
    return {};
}

// A value that the cells have; what they do not name is a value, too.
void add_present(solve::Variable& variable, const Cell& cell, std::string_view text) {
    if (text.empty()) {
        if (!variable.nothing()) variable.values.emplace_back(std::nullopt);
    } else if (variable.package.empty()) {
        variable.add(*cell.get(variable.field));
    } else {
        variable.add(Value{std::string(text), {}, {}});
    }
}

}  // namespace

bool is_kept(const Matrix& matrix, const Cell& cell) {
    return std::ranges::any_of(matrix.keep,
                               [&](const Condition& condition) { return matches(condition, cell); });
}

bool moves(Field field) {
    return std::ranges::find(kMoving, field) != kMoving.end();
}

Fleet::Fleet(const Matrix& matrix, const Judgement& judgement, const Facts& facts, const std::string& today,
             Wanted wanted, const OnProgress& on_progress)
    : matrix_(matrix),
      judgement_(judgement),
      facts_(facts),
      today_(today),
      wanted_(std::move(wanted)),
      own_(rules::own_rules(matrix)) {
    collect_variables(on_progress);
    collect_units();
    place_cells();
}

// One for each field and package that the file names, with its values and the newer ones.
void Fleet::collect_variables(const OnProgress& on_progress) {
    std::vector<solve::Variable> variables;
    std::set<std::string> packages;
    for (const auto& judged : judgement_.cells) {
        if (const auto* value = judged.cell.get(Field::packages)) {
            for (const auto& item : value->items)
                packages.insert(item.first);
        }
    }
    for (const auto& field : all_fields()) {
        if (field.field == Field::packages || !matrix_.named.contains(field.field)) continue;
        variables.push_back({.field = field.field, .ordered = compares_as_version(field.field)});
    }
    for (const auto& package : packages)
        variables.push_back({.field = Field::packages, .package = package, .ordered = true});
    for (auto& variable : variables) {
        std::set<std::string_view> seen;
        for (const auto& judged : judgement_.cells) {
            const auto text = text_of(judged.cell, variable);
            if (seen.insert(text).second) add_present(variable, judged.cell, text);
        }
    }
    add_candidates(variables);
    auto setting = solve::setting_of(matrix_, own_);
    setting.on_progress = on_progress;
    cache_.emplace(facts_, today_, std::move(variables), setting);
}

void Fleet::add_candidates(std::vector<solve::Variable>& variables) {
    struct Found {
        std::size_t variable;
        std::string present;
        NewerValues values;
    };
    std::vector<Found> found;
    for (std::size_t i = 0; i < variables.size(); ++i) {
        for (const auto& value : variables[i].values) {
            if (value)
                found.push_back(
                    {i, value->text, newer_values(facts_, variables[i].field, value->text, today_)});
        }
    }
    std::set<std::string> torches;
    const auto offer = [&](Field field, const std::string& text) {
        solve::offer(variables, field, text);
        if (field == Field::torch) torches.insert(text);
    };
    for (const auto& [field, text] : wanted_)
        offer(field, text);
    for (const auto& [variable, present, values] : found) {
        const auto field = variables[variable].field;
        for (const auto* list : {&values.on_line, &values.beyond}) {
            for (const auto& text : *list) {
                offer(field, text);
                if (field != Field::image) continue;
                for (const auto& [other, held] : held_by(facts_, text))
                    offer(other, held);
            }
        }
    }
    for (auto& variable : variables) {
        for (const auto& torch : torches) {
            const auto text = companion_text(facts_, variable.package, torch);
            if (!text.empty()) variable.add(Value{text, {}, {}});
        }
    }
    // Indices hold from here on.
    newer_.resize(variables.size());
    for (std::size_t i = 0; i < variables.size(); ++i) {
        if (const auto nothing = variables[i].nothing()) newer_[i][*nothing] = {};
    }
    for (const auto& [variable, present, values] : found) {
        const auto& about = variables[variable];
        const auto indices = [&](const std::vector<std::string>& texts) {
            Values out;
            for (const auto& text : texts) {
                if (const auto at = about.find(text)) out.push_back(*at);
            }
            return out;
        };
        newer_[variable][*about.find(present)] = {indices(values.on_line), indices(values.beyond)};
    }
}

void Fleet::add_unit(const std::vector<Field>& fields, const std::vector<std::vector<const Value*>>& rows,
                     std::optional<std::size_t> axis) {
    Unit unit;
    unit.axis = axis;
    std::vector<std::size_t> column;
    for (std::size_t i = 0; i < cache_->variables().size(); ++i) {
        const auto at = std::ranges::find(fields, variable(i).field);
        if (at == fields.end()) continue;
        unit.variables.push_back(i);
        column.push_back(static_cast<std::size_t>(at - fields.begin()));
    }
    for (std::size_t place = 0; place < rows.size(); ++place) {
        const auto& row = rows[place];
        Values values;
        for (std::size_t v = 0; v < unit.variables.size(); ++v) {
            Cell cell;
            const auto& about = variable(unit.variables[v]);
            cell.set(about.field, row[column[v]]);
            const auto text = text_of(cell, about);
            const auto at = text.empty() ? about.nothing() : about.find(text);
            if (!at) break;  // excludes leave no cell with it
            values.push_back(*at);
        }
        if (values.size() != unit.variables.size()) continue;
        unit.rows.push_back(std::move(values));
        unit.places.push_back(place);
    }
    const bool can_move = std::ranges::any_of(unit.variables, [&](std::size_t i) {
        return moves(variable(i).field) || variable(i).field == Field::packages;
    });
    if (unit.rows.empty() || !can_move) return;
    unit.front = newest_row(unit);
    units_.push_back(std::move(unit));
}

// Software decides: the row with the newest torch, of those the one with the newest CUDA, and so on.
std::size_t Fleet::newest_row(const Unit& unit) const {
    std::size_t best = 0;
    const auto is_newer = [&](const Values& a, const Values& b) {
        for (const auto field : kMoving) {
            for (std::size_t v = 0; v < unit.variables.size(); ++v) {
                const auto& about = variable(unit.variables[v]);
                if (about.field != field || a[v] == b[v]) continue;
                if (about.ordered) return a[v] < b[v];
                return life_of(facts_, field, text(unit.variables[v], a[v])).released >
                       life_of(facts_, field, text(unit.variables[v], b[v])).released;
            }
        }
        return false;
    };
    for (std::size_t row = 1; row < unit.rows.size(); ++row) {
        if (is_newer(unit.rows[row], unit.rows[best])) best = row;
    }
    return best;
}

void Fleet::collect_units() {
    FieldSet taken;
    for (std::size_t a = 0; a < matrix_.axes.size(); ++a) {
        const auto& axis = matrix_.axes[a];
        std::vector<std::vector<const Value*>> rows;
        for (const auto& row : axis.rows) {
            auto& values = rows.emplace_back();
            for (const auto& value : row)
                values.push_back(&value);
        }
        for (const auto field : axis.fields)
            taken.insert(field);
        add_unit(axis.fields, rows, a);
    }
    for (const auto& [field, value] : matrix_.set) {
        if (taken.contains(field)) continue;
        taken.insert(field);
        add_unit({field}, {{&value}}, std::nullopt);
    }
    // What only rows of `include` name moves where they agree.
    for (const auto& field : all_fields()) {
        if (taken.contains(field.field) || !matrix_.named.contains(field.field)) continue;
        const Value* one = nullptr;
        const bool agree = std::ranges::all_of(judgement_.cells, [&](const JudgedCell& judged) {
            const auto* value = judged.cell.get(field.field);
            if (one == nullptr) one = value;
            return value != nullptr && value->text == one->text;
        });
        if (agree && one != nullptr) add_unit({field.field}, {{one}}, std::nullopt);
    }
}

void Fleet::place_cells() {
    for (const auto& judged : judgement_.cells) {
        const auto& assignment = cells_.emplace_back(solve::assignment_of(cache_->variables(), judged.cell));
        auto& rows = rows_of_.emplace_back();
        for (const auto& unit : units_) {
            const auto row = std::ranges::find_if(unit.rows, [&](const Values& values) {
                for (std::size_t v = 0; v < values.size(); ++v) {
                    if (assignment[unit.variables[v]] != values[v]) return false;
                }
                return true;
            });
            rows.push_back(static_cast<std::size_t>(row - unit.rows.begin()));
        }
        auto& verdicts = before_by_rule_.emplace_back();
        for (std::size_t rule = 0; rule < cache_->size(); ++rule)
            verdicts.push_back(cache_->verdict(rule, assignment));
        before_.push_back(verdicts.empty() ? Verdict::accepted : *std::ranges::max_element(verdicts));
    }
}

std::string Fleet::text(std::size_t variable_at, std::uint32_t value) const {
    const auto& known = variable(variable_at).values[value];
    return known ? known->text : std::string();
}

Target Fleet::present() const {
    Target target;
    for (const auto& unit : units_)
        target.push_back(unit.rows);
    return target;
}

const solve::Assignment& Fleet::moved(std::size_t cell, const Target& target) {
    scratch_ = cells_[cell];
    for (std::size_t u = 0; u < units_.size(); ++u) {
        const auto row = rows_of_[cell][u];
        if (row == units_[u].rows.size()) continue;
        for (std::size_t v = 0; v < units_[u].variables.size(); ++v)
            scratch_[units_[u].variables[v]] = target[u][row][v];
    }
    return scratch_;
}

Verdict Fleet::after(std::size_t cell, const Target& target) {
    return cache_->verdict(moved(cell, target));
}

std::vector<std::size_t> Fleet::refused_by(std::size_t cell, const Target& target) {
    std::vector<std::size_t> out;
    const auto& assignment = moved(cell, target);
    for (std::size_t rule = 0; rule < cache_->size(); ++rule) {
        if (cache_->verdict(rule, assignment) > solve::kGoodEnough) out.push_back(rule);
    }
    return out;
}

Finding Fleet::refusal(std::size_t rule, std::size_t cell, const Target& target) {
    const auto findings = cache_->findings(rule, moved(cell, target));
    Finding worst;
    worst.rule = cache_->rule(rule).id;
    for (const auto& finding : findings) {
        if (worst.message.empty() || finding.verdict() > worst.verdict()) worst = finding;
    }
    return worst;
}

Verdict Fleet::verdict_with(std::size_t cell,
                            std::initializer_list<std::pair<std::size_t, std::uint32_t>> values) {
    scratch_ = cells_[cell];
    for (const auto& [variable, value] : values)
        scratch_[variable] = value;
    return cache_->verdict(scratch_);
}

bool Fleet::is_kept(std::size_t cell) const {
    return upgrade::is_kept(matrix_, judgement_.cells[cell].cell);
}

bool Fleet::is_kept(std::size_t unit, std::size_t row) const {
    for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
        if (rows_of_[cell][unit] == row && before_[cell] <= solve::kGoodEnough && is_kept(cell)) return true;
    }
    return false;
}

std::vector<std::string> Fleet::values(const Cell& cell) const {
    std::vector<std::string> out;
    for (const auto& each : cache_->variables())
        out.emplace_back(text_of(cell, each));
    return out;
}

std::vector<std::string> Fleet::values(std::size_t cell, const Target& target) {
    std::vector<std::string> out;
    const auto& assignment = moved(cell, target);
    for (std::size_t i = 0; i < assignment.size(); ++i)
        out.push_back(text(i, assignment[i]));
    return out;
}

// One limit more is worse, whatever others there are; where nothing works there is nothing to lose.
bool Fleet::is_worse(std::size_t cell, const Target& target) {
    const auto& assignment = moved(cell, target);
    if (before_[cell] > solve::kGoodEnough) return cache_->verdict(assignment) > before_[cell];
    for (std::size_t rule = 0; rule < cache_->size(); ++rule) {
        if (cache_->verdict(rule, assignment) > before_by_rule_[cell][rule]) return true;
    }
    return false;
}

bool Fleet::makes_worse(const Target& target) {
    if (suspect_ < cells_.size() && is_worse(suspect_, target)) return true;
    for (std::size_t cell = 0; cell < cells_.size() && cache_->may_go_on(); ++cell) {
        if (!is_worse(cell, target)) continue;
        suspect_ = cell;
        return true;
    }
    return false;
}

bool Fleet::works(const Target& target, std::size_t unit, std::size_t row) {
    for (std::size_t cell = 0; cell < cells_.size() && cache_->may_go_on(); ++cell) {
        if (rows_of_[cell][unit] == row && after(cell, target) <= solve::kGoodEnough) return true;
    }
    return false;
}

std::size_t Fleet::working(const Target& target) {
    std::size_t count = 0;
    for (std::size_t cell = 0; cell < cells_.size() && cache_->may_go_on(); ++cell)
        count += after(cell, target) <= solve::kGoodEnough ? 1 : 0;
    return count;
}

}  // namespace cudamatrix::upgrade
