#include "knowledge/solve/rule_cache.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "knowledge/facts/known_problems.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/judge/evaluate.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/unpinned.hpp"
#include "knowledge/rules/rule.hpp"
#include "knowledge/solve/rows.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::solve {

Setting setting_of(const Matrix& matrix, const std::vector<rules::Rule>& own) {
    Setting setting;
    for (const auto& rule : own)
        setting.own.push_back(&rule);
    setting.deciding = DecidingStages(matrix);
    return setting;
}

RuleCache::RuleCache(const Facts& facts, std::string today, std::vector<Variable> variables,
                     const Setting& setting)
    : facts_(facts),
      today_(std::move(today)),
      variables_(std::move(variables)),
      deciding_(setting.deciding),
      on_progress_(setting.on_progress) {
    compare_hosts();
    has_unpinned_ = std::any_of(variables_.begin(), variables_.end(), [](const Variable& variable) {
        return !variable.package.empty() && variable.find(kAnyVersion);
    });
    for (const auto& rule : rules::all_rules())
        add(rule, setting);
    for (const auto* rule : setting.own) {
        const auto before = asked_.size();
        add(*rule, setting);
        if (asked_.size() != before) asked_.back().is_own = true;
    }
}

void RuleCache::compare_hosts() {
    std::map<std::string_view, std::uint32_t> first;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
        if (variables_[i].field != Field::gpu) continue;
        gpu_variable_ = i;
        for (const auto& value : variables_[i].values) {
            const auto host = value ? rules::host_arch(facts_, value->text) : std::string_view();
            const auto here = static_cast<std::uint32_t>(same_host_.size());
            same_host_.push_back(first.emplace(host, here).first->second);
        }
    }
}

// Rules know a GPU by its row alone, but for conditions, which may name it.
std::vector<std::uint32_t> RuleCache::same_gpus(std::size_t index) const {
    const auto& asked = asked_[index];
    if (asked.host_only) return same_host_;
    const auto& values = variables_[*gpu_variable_].values;
    std::vector<std::uint32_t> out;
    const bool by_name = asked.is_own || !facts_.known_problems(asked.rule->id).empty();
    const auto reads = [&](std::initializer_list<Field> fields) {
        return std::any_of(fields.begin(), fields.end(),
                           [&](Field field) { return asked.rule->reads.contains(field); });
    };
    std::vector<std::string_view> ignored{"id", "name", "aliases", "source", "note", "as_of"};
    if (!reads({Field::driver, Field::kernel_module}))
        ignored.insert(ignored.end(), {"first_drivers", "min_driver", "open_kernel_module"});
    if (!reads({Field::vram_gb, Field::mig}))
        ignored.insert(ignored.end(), {"memory_gb", "mig_devices", "mig_smallest_gb"});
    std::map<std::string, std::uint32_t> first;
    for (std::uint32_t value = 0; value < values.size(); ++value) {
        const auto row = values[value] ? lookup::gpu(facts_, values[value]->text) : std::nullopt;
        std::string key;
        if (!row || by_name) {
            key = std::to_string(value);
        } else {
            for (const auto& column : row->columns()) {
                if (std::find(ignored.begin(), ignored.end(), column.name) != ignored.end()) continue;
                key += fmt::format("{}:", column.name);
                for (const auto text : column.values)
                    key += fmt::format("{},", text);
            }
        }
        out.push_back(first.emplace(std::move(key), value).first->second);
    }
    return out;
}

void RuleCache::add(const rules::Rule& rule, const Setting& setting) {
    if (std::find(setting.waived.begin(), setting.waived.end(), rule.id) != setting.waived.end()) return;
    Asked asked{&rule, {}, false, false, {}, {}, {}};
    const auto fields = rules::depends_on(rule, {.releases = has_unpinned_});
    // Whether the stage decides is asked of the cell, too.
    const auto weighed = rule.stage == Stage::build ? rules::kReadByCompiles : FieldSet{};
    bool reads_any = false;
    bool has_arch = false;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
        const auto field = variables_[i].field;
        reads_any = reads_any || fields.contains(field);
        if (fields.contains(field) || weighed.contains(field)) asked.variables.push_back(i);
        has_arch = has_arch || field == Field::arch;
    }
    asked.host_only =
        gpu_variable_ && !has_arch && !rule.reads.contains(Field::gpu) && fields.contains(Field::gpu);
    std::uint64_t combinations = 1;
    for (const auto variable : asked.variables) {
        asked.strides.push_back(combinations);
        const auto values = variables_[variable].values.size() + 1;  // one for kUnassigned
        if (combinations > std::numeric_limits<std::uint64_t>::max() / values) {
            asked.strides.clear();
            break;
        }
        combinations *= values;
    }
    if (reads_any) asked_.push_back(std::move(asked));
}

Verdict RuleCache::verdict(std::size_t index, const Assignment& assignment) {
    auto& asked = asked_[index];
    const auto answer = [&](auto& known, const auto& key) {
        const auto found = known.find(key);
        if (found != known.end()) return found->second;
        return known.emplace(key, ask(index, assignment)).first->second;
    };
    if (asked.strides.empty()) {
        std::u32string key;
        for (const auto variable : asked.variables)
            key.push_back(static_cast<char32_t>(told_apart(index, variable, assignment[variable])));
        return answer(asked.known_by_values, key);
    }
    std::uint64_t key = 0;
    for (std::size_t i = 0; i < asked.variables.size(); ++i) {
        const auto variable = asked.variables[i];
        const auto value = told_apart(index, variable, assignment[variable]);
        key += asked.strides[i] * (value == kUnassigned ? variables_[variable].values.size() : value);
    }
    return answer(asked.known, key);
}

Verdict RuleCache::ask(std::size_t index, const Assignment& assignment, std::vector<Look>* looks) {
    const auto& rule = *asked_[index].rule;
    const auto here = cell(assignment);
    auto worst = Verdict::accepted;
    if (looks != nullptr && has_unpinned_ && !tells_releases(assignment)) {
        for (const auto variable : asked_[index].variables) {
            if (!variables_[variable].package.empty() && assignment[variable] != kUnassigned)
                looks->push_back({variable, false});
        }
    }
    if (!rules::applies(rule, here)) return worst;
    ++questions_;
    rules::ReadLog log;
    for (const auto& finding : rules::ask(rule, here, facts_, today_, &memo_, &log))
        worst = std::max(worst, deciding_.weigh(finding.stage, finding.verdict(), here, &log));
    if (looks != nullptr) add_looks(index, assignment, log, *looks);
    return worst;
}

void RuleCache::add_looks(std::size_t index, const Assignment& assignment, const rules::ReadLog& log,
                          std::vector<Look>& looks) const {
    for (const auto field : log.fields()) {
        bool says_arch = field != Field::arch;
        for (const auto variable : asked_[index].variables) {
            if (variables_[variable].field != field || assignment[variable] == kUnassigned) continue;
            looks.push_back({variable, false});
            says_arch = says_arch || variables_[variable].values[assignment[variable]].has_value();
        }
        // The hosts of the GPU say the arch where the cell does not.
        if (!says_arch && gpu_variable_ && assignment[*gpu_variable_] != kUnassigned)
            looks.push_back({*gpu_variable_, true});
    }
}

const std::shared_ptr<Rows>& RuleCache::rows() {
    if (!rows_) {
        rows_ = std::make_shared<Rows>(
            *this,
            [this](std::size_t rule, const Assignment& assignment, std::vector<Look>& looks) {
                return ask(rule, assignment, &looks);
            },
            true);
    }
    return rows_;
}

Verdict RuleCache::verdict(const Assignment& assignment) {
    auto worst = Verdict::accepted;
    for (std::size_t i = 0; i < asked_.size(); ++i)
        worst = std::max(worst, verdict(i, assignment));
    return worst;
}

Verdict RuleCache::worst_of(std::size_t index) const {
    const auto& asked = asked_[index];
    // A rule of the matrix file may speak of any stage; whether a build decides is up to the cell.
    if (asked.is_own || asked.rule->stage == Stage::build) return Verdict::rejected;
    return deciding_.weigh(asked.rule->stage, Verdict::rejected, Cell());
}

bool RuleCache::may_go_on() {
    constexpr std::uint64_t look_every = 1024;
    if (++tried_ % look_every == 0 && on_progress_ && !stopped_)
        stopped_ = !on_progress_({"values tried", tried_, 0});
    return !stopped_ && questions_ <= most_questions_;
}

rules::Findings RuleCache::findings(std::size_t index, const Assignment& assignment) {
    const auto here = cell(assignment);
    const auto& rule = *asked_[index].rule;
    if (!rules::applies(rule, here)) return {};
    return rules::ask(rule, here, facts_, today_, &memo_);
}

Cell RuleCache::cell(const Assignment& assignment) {
    Cell out;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
        if (!variables_[i].package.empty() || assignment[i] == kUnassigned) continue;
        const auto& value = variables_[i].values[assignment[i]];
        if (value) out.set(variables_[i].field, &*value);
    }
    if (const auto* packages = packages_of(assignment); packages != nullptr)
        out.set(Field::packages, packages);
    return out;
}

// Which release `any` is follows from the whole cell: of a part of it nothing is said about the package.
bool RuleCache::tells_releases(const Assignment& assignment) const {
    for (std::size_t i = 0; i < variables_.size(); ++i) {
        if (assignment[i] == kUnassigned && rules::kReadByUnpinned.contains(variables_[i].field))
            return false;
    }
    return true;
}

const Value* RuleCache::packages_of(const Assignment& assignment) {
    const bool leaves_out_any = has_unpinned_ && !tells_releases(assignment);
    std::u32string key{leaves_out_any ? U'1' : U'0'};
    for (std::size_t i = 0; i < variables_.size(); ++i) {
        if (!variables_[i].package.empty()) key.push_back(static_cast<char32_t>(assignment[i]));
    }
    const auto [known, is_new] = packages_.try_emplace(std::move(key));
    if (!is_new) return known->second.get();
    Value value;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
        if (variables_[i].package.empty() || assignment[i] == kUnassigned) continue;
        if (const auto& version = variables_[i].values[assignment[i]]; version) {
            if (leaves_out_any && version->text == kAnyVersion) continue;
            value.where = version->where;
            value.items.emplace_back(variables_[i].package, version->text);
        }
    }
    if (value.items.empty()) return nullptr;
    set_text_from_items(value, Syntax::string_map);
    known->second = std::make_unique<Value>(std::move(value));
    return known->second.get();
}

}  // namespace cudamatrix::solve
