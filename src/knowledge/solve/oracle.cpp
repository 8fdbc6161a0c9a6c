#include "knowledge/solve/oracle.hpp"

#include <algorithm>

#include "knowledge/judge/evaluate.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::solve {

Stages all_stages() {
    Stages stages{};
    stages.fill(true);
    return stages;
}

Setting setting_of(const Matrix& matrix, const std::vector<rules::Rule>& own) {
    Setting setting;
    for (const auto& rule : own)
        setting.own.push_back(&rule);
    for (std::size_t stage = 0; stage < kStageCount && !matrix.stages.empty(); ++stage) {
        setting.stages[stage] = std::find(matrix.stages.begin(), matrix.stages.end(),
                                          to_string(static_cast<Stage>(stage))) != matrix.stages.end();
    }
    return setting;
}

Oracle::Oracle(const Facts& facts, std::string today, std::vector<Slot> slots, const Setting& setting)
    : facts_(facts),
      today_(std::move(today)),
      slots_(std::move(slots)),
      stages_(setting.stages),
      go_on_(setting.go_on) {
    compare_hosts();
    for (const auto& rule : rules::all_rules())
        add(rule, setting);
    for (const auto* rule : setting.own)
        add(*rule, setting);
}

void Oracle::compare_hosts() {
    std::map<std::string_view, std::uint32_t> first;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (slots_[i].field != Field::gpu) continue;
        gpu_slot_ = i;
        for (const auto& value : slots_[i].values) {
            const auto host = value ? rules::host_arch(facts_, value->text) : std::string_view();
            const auto here = static_cast<std::uint32_t>(same_host_.size());
            same_host_.push_back(first.emplace(host, here).first->second);
        }
    }
}

void Oracle::add(const rules::Rule& rule, const Setting& setting) {
    if (std::find(setting.waived.begin(), setting.waived.end(), rule.id) != setting.waived.end()) return;
    Asked asked{&rule, {}, false, {}};
    const auto fields = rules::depends_on(rule);
    bool has_arch = false;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (fields.contains(slots_[i].field)) asked.slots.push_back(i);
        has_arch = has_arch || slots_[i].field == Field::arch;
    }
    asked.host_only =
        gpu_slot_ && !has_arch && !rule.reads.contains(Field::gpu) && fields.contains(Field::gpu);
    if (!asked.slots.empty()) asked_.push_back(std::move(asked));
}

Verdict Oracle::verdict(std::size_t index, const Picks& picks) {
    auto& asked = asked_[index];
    std::u32string key;
    for (const auto slot : asked.slots) {
        const bool by_host = asked.host_only && slot == gpu_slot_ && picks[slot] != kNotPicked;
        key.push_back(static_cast<char32_t>(by_host ? same_host_[picks[slot]] : picks[slot]));
    }
    const auto [entry, is_new] = asked.known.emplace(std::move(key), Verdict::accepted);
    if (!is_new) return entry->second;
    const auto here = cell(picks);
    if (!rules::applies(*asked.rule, here)) return entry->second;
    ++questions_;
    for (const auto& finding : rules::ask(*asked.rule, here, facts_, today_, &memo_)) {
        if (stages_[static_cast<std::size_t>(finding.stage)])
            entry->second = std::max(entry->second, finding.verdict());
    }
    return entry->second;
}

Verdict Oracle::verdict(const Picks& picks) {
    auto worst = Verdict::accepted;
    for (std::size_t i = 0; i < asked_.size(); ++i)
        worst = std::max(worst, verdict(i, picks));
    return worst;
}

bool Oracle::may_go_on() {
    constexpr std::uint64_t look_every = 1024;
    if (++tried_ % look_every == 0 && go_on_ && !stopped_) stopped_ = !go_on_({"values tried", tried_, 0});
    return !stopped_;
}

rules::Findings Oracle::findings(std::size_t index, const Picks& picks) {
    const auto here = cell(picks);
    const auto& rule = *asked_[index].rule;
    if (!rules::applies(rule, here)) return {};
    return rules::ask(rule, here, facts_, today_, &memo_);
}

Cell Oracle::cell(const Picks& picks) {
    Cell out;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (!slots_[i].package.empty() || picks[i] == kNotPicked) continue;
        const auto& value = slots_[i].values[picks[i]];
        if (value) out.set(slots_[i].field, &*value);
    }
    if (const auto* packages = packages_of(picks); packages != nullptr) out.set(Field::packages, packages);
    return out;
}

const Value* Oracle::packages_of(const Picks& picks) {
    Value value;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (slots_[i].package.empty() || picks[i] == kNotPicked) continue;
        if (const auto& version = slots_[i].values[picks[i]]; version) {
            value.where = version->where;
            value.items.emplace_back(slots_[i].package, version->text);
        }
    }
    if (value.items.empty()) return nullptr;
    set_text_from_items(value, Syntax::string_map);
    auto& known = packages_[value.text];
    if (!known) known = std::make_unique<Value>(std::move(value));
    return known.get();
}

}  // namespace cudamatrix::solve
