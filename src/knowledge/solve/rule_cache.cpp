#include "knowledge/solve/rule_cache.hpp"

#include <algorithm>

#include "knowledge/judge/evaluate.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/rules/rule.hpp"
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
    for (const auto& rule : rules::all_rules())
        add(rule, setting);
    for (const auto* rule : setting.own)
        add(*rule, setting);
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

void RuleCache::add(const rules::Rule& rule, const Setting& setting) {
    if (std::find(setting.waived.begin(), setting.waived.end(), rule.id) != setting.waived.end()) return;
    Asked asked{&rule, {}, false, {}};
    const auto fields = rules::depends_on(rule);
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
    if (reads_any) asked_.push_back(std::move(asked));
}

Verdict RuleCache::verdict(std::size_t index, const Assignment& assignment) {
    auto& asked = asked_[index];
    std::u32string key;
    for (const auto variable : asked.variables) {
        const bool by_host =
            asked.host_only && variable == gpu_variable_ && assignment[variable] != kUnassigned;
        key.push_back(
            static_cast<char32_t>(by_host ? same_host_[assignment[variable]] : assignment[variable]));
    }
    const auto [entry, is_new] = asked.known.emplace(std::move(key), Verdict::accepted);
    if (!is_new) return entry->second;
    const auto here = cell(assignment);
    if (!rules::applies(*asked.rule, here)) return entry->second;
    ++questions_;
    for (const auto& finding : rules::ask(*asked.rule, here, facts_, today_, &memo_)) {
        entry->second = std::max(entry->second, deciding_.weigh(finding.stage, finding.verdict(), here));
    }
    return entry->second;
}

Verdict RuleCache::verdict(const Assignment& assignment) {
    auto worst = Verdict::accepted;
    for (std::size_t i = 0; i < asked_.size(); ++i)
        worst = std::max(worst, verdict(i, assignment));
    return worst;
}

bool RuleCache::may_go_on() {
    constexpr std::uint64_t look_every = 1024;
    if (++tried_ % look_every == 0 && on_progress_ && !stopped_)
        stopped_ = !on_progress_({"values tried", tried_, 0});
    return !stopped_;
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

const Value* RuleCache::packages_of(const Assignment& assignment) {
    Value value;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
        if (variables_[i].package.empty() || assignment[i] == kUnassigned) continue;
        if (const auto& version = variables_[i].values[assignment[i]]; version) {
            value.where = version->where;
            value.items.emplace_back(variables_[i].package, version->text);
        }
    }
    if (value.items.empty()) return nullptr;
    set_text_from_items(value, Syntax::string_map);
    auto& known = packages_[value.text];
    if (!known) known = std::make_unique<Value>(std::move(value));
    return known.get();
}

}  // namespace cudamatrix::solve
