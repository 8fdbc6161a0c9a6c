#include "knowledge/solve/repair.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "knowledge/judge/evaluate.hpp"
#include "knowledge/solve/around.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::solve {
namespace {

void add_nothing(Slot& slot) {
    if (!slot.nothing()) slot.values.emplace_back(std::nullopt);
}

// A slot for each field and package that the option sets or leaves out.
void make_room(std::vector<Slot>& slots, const Cell& cell, Field field, const Value& value) {
    const auto has = [&](std::string_view package) {
        return std::any_of(slots.begin(), slots.end(),
                           [&](const Slot& slot) { return slot.field == field && slot.package == package; });
    };
    if (field != Field::packages) {
        if (!has({})) slots.push_back({.field = field, .values = {value, std::nullopt}});
        return;
    }
    for (const auto& [name, version] : value.items) {
        if (!has(name)) slots.push_back({field, name, {Value{version, {}, {}}, std::nullopt}, true});
    }
    const auto* present = cell.get(field);
    for (auto& slot : slots) {
        if (slot.field == field && present != nullptr && !pick_of(slot, value)) add_nothing(slot);
    }
}

std::vector<Slot> slots_for(const Facts& facts, const Cell& cell, const std::vector<Finding*>& findings,
                            bool whole) {
    auto slots = whole ? slots_around(facts, cell) : slots_of_cell(cell);
    for (const auto* finding : findings) {
        for (const auto& option : finding->fixes) {
            for (const auto& [field, text] : option.set) {
                const auto value = value_from_text(field, text);
                if (std::holds_alternative<ValueProblem>(value)) continue;
                offer(slots, field, text);
                make_room(slots, cell, field, std::get<Value>(value));
            }
        }
    }
    std::stable_sort(slots.begin(), slots.end(),
                     [](const Slot& a, const Slot& b) { return ease(a.field) < ease(b.field); });
    return slots;
}

void prefer_same_distribution(const Slot& slot, std::uint32_t present, std::vector<std::uint32_t>& values) {
    const auto name_of = [&](std::uint32_t value) {
        const auto& text = slot.values[value]->text;
        return std::string_view(text).substr(0, text.find_first_of("0123456789"));
    };
    if (!slot.values[present]) return;
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
               const std::vector<Finding*>& findings, bool whole)
    : oracle_(facts, today, slots_for(facts, cell, findings, whole), setting),
      present_(picks_of(oracle_.slots(), cell)) {
    for (std::size_t rule = 0; rule < oracle_.size(); ++rule)
        bounds_.push_back(std::max(oracle_.verdict(rule, present_), kGoodEnough));
}

void Repair::look_at(const Finding& finding) {
    finding_ = &finding;
    before_.clear();
    answers_.clear();
    for (std::size_t rule = 0; rule < oracle_.size(); ++rule) {
        if (oracle_.rule(rule).id == finding.rule) before_[rule] = oracle_.findings(rule, present_);
    }
}

bool Repair::is_read(std::size_t slot) const {
    return std::any_of(before_.begin(), before_.end(), [&](const auto& entry) {
        const auto& reads = oracle_.reads(entry.first);
        return std::find(reads.begin(), reads.end(), slot) != reads.end();
    });
}

std::optional<Picks> Repair::after(const FixOption& option) const {
    auto picks = present_;
    for (const auto& [field, text] : option.set) {
        auto value = value_from_text(field, text);
        if (std::holds_alternative<ValueProblem>(value)) return std::nullopt;
        for (std::size_t i = 0; i < picks.size(); ++i) {
            const auto& slot = oracle_.slots()[i];
            if (slot.field != field) continue;
            const auto at = pick_of(slot, std::get<Value>(value));
            if (!at && !slot.nothing()) return std::nullopt;
            picks[i] = at ? *at : *slot.nothing();
        }
    }
    return picks;
}

bool Repair::works(const Picks& picks) {
    for (std::size_t rule = 0; rule < oracle_.size(); ++rule) {
        if (is_touched(rule, picks) && !allows(rule, picks)) return false;
    }
    return true;
}

bool Repair::is_refused(const Picks& picks) {
    for (std::size_t rule = 0; rule < oracle_.size(); ++rule) {
        if (is_touched(rule, picks) && oracle_.verdict(rule, picks) > kGoodEnough) return true;
    }
    return false;
}

std::optional<Picks> Repair::first(const Domains& domains, std::uint64_t& budget) {
    return prefer_kept(oracle_.slots(), domains, [&](const Domains& some) {
        Search search(oracle_, some,
                      [&](std::size_t rule, const Picks& picks) { return allows(rule, picks); });
        search.set_budget(budget);
        auto found = search.first();
        budget = search.budget();
        return found;
    });
}

Domains Repair::only(const Picks& picks) {
    Domains domains;
    for (const auto pick : picks)
        domains.push_back({pick});
    return domains;
}

std::vector<std::uint32_t> Repair::values_of(std::size_t slot, std::optional<std::uint32_t> floor) const {
    const auto& about = oracle_.slots()[slot];
    std::vector<std::uint32_t> out;
    const auto is_open = [&](std::uint32_t value) {
        return value != present_[slot] && about.values[value].has_value();
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
    if (about.field == Field::os) prefer_same_distribution(about, present_[slot], out);
    return out;
}

FixOption Repair::option_of(const Picks& picks, std::string text, const Picks* said) {
    FixOption out{std::move(text), {}, {}};
    const auto cell = oracle_.cell(picks);
    bool packages = false;
    for (std::size_t i = 0; i < picks.size(); ++i) {
        const auto& slot = oracle_.slots()[i];
        if (picks[i] == present_[i]) continue;
        const auto& value = slot.values[picks[i]];
        if (said == nullptr || (*said)[i] != picks[i]) {
            out.text += out.text.empty() ? "" : " and ";
            out.text += value ? fmt::format("{} {}", slot.name(), value->text)
                              : fmt::format("leave {} out", slot.name());
        }
        if (slot.field != Field::packages) {
            out.set.emplace_back(slot.field, value ? value->text : std::string());
        } else if (!std::exchange(packages, true)) {
            const auto* all = cell.get(Field::packages);
            out.set.emplace_back(Field::packages, all == nullptr ? std::string() : all->text);
        }
    }
    return out;
}

bool Repair::is_touched(std::size_t rule, const Picks& picks) const {
    const auto& reads = oracle_.reads(rule);
    return std::any_of(reads.begin(), reads.end(),
                       [&](std::size_t slot) { return picks[slot] != present_[slot]; });
}

bool Repair::allows(std::size_t rule, const Picks& picks) {
    const auto own = before_.find(rule);
    if (own != before_.end() && std::find(picks.begin(), picks.end(), kNotPicked) != picks.end())
        return true;  // whether a finding vanishes is known of whole cells only
    if (own == before_.end()) return oracle_.verdict(rule, picks) <= bounds_[rule];
    std::vector<std::uint32_t> key{static_cast<std::uint32_t>(rule)};
    for (const auto slot : oracle_.reads(rule))
        key.push_back(picks[slot]);
    const auto [known, is_new] = answers_.emplace(std::move(key), false);
    if (is_new) {
        const auto found = oracle_.findings(rule, picks);
        known->second = rules::vanished(*finding_, found) && !says_worse(own->second, found);
    }
    return known->second;
}

}  // namespace cudamatrix::solve
