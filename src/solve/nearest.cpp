#include "solve/nearest.hpp"

#include <algorithm>
#include <array>
#include <deque>

#include "base/text.hpp"
#include "matrix/value.hpp"
#include "rules/all_rules.hpp"
#include "rules/evaluate.hpp"
#include "rules/images.hpp"

namespace cudamatrix::solve {
namespace {

// What changes most easily comes first: software, then the driver and the system, then the machine and the
// work.
constexpr std::array kEasiest{
    Field::torch,      Field::packages, Field::cuda,        Field::image,         Field::python,
    Field::compiler,   Field::flavour,  Field::cudnn,       Field::arch_list,     Field::cuda_from,
    Field::family,     Field::toolkit,  Field::cuda_compat, Field::kernel_module, Field::env,
    Field::glibc,      Field::driver,   Field::os,          Field::gpu,           Field::compute,
    Field::host_class, Field::arch,     Field::mig,         Field::uses,          Field::vram_gb,
    Field::shm_gb,     Field::platform};

std::size_t ease(Field field) {
    return static_cast<std::size_t>(std::find(kEasiest.begin(), kEasiest.end(), field) - kEasiest.begin());
}

// Images of the same repository, kind and system as the cell's.
std::vector<std::string> sister_images(const Facts& facts, std::string_view text) {
    std::vector<std::string> out;
    const auto reference = rules::image_reference(text);
    const auto repository = rules::image_repository(facts, reference.repository);
    if (!repository) return out;
    if (const auto tag = rules::pytorch_tag(reference.tag); tag && repository->text("scheme") == "pytorch") {
        for (const auto& row : facts.table("pytorch_images")->rows) {
            for (const auto cuda : row.list("cuda")) {
                const rules::PytorchTag other{std::string(row.text("torch")), std::string(cuda),
                                              std::string(row.text("cudnn")), tag->flavour};
                out.push_back(fmt::format("{}:{}", reference.name, other.text()));
            }
        }
    }
    if (const auto tag = rules::cuda_tag(reference.tag); tag && repository->text("scheme") == "cuda") {
        for (const auto& row : facts.table("cuda_images")->rows) {
            if (row.text("status") == "deleted") continue;
            const rules::CudaTag other{std::string(row.text("cuda")), tag->flavour, tag->os};
            out.push_back(fmt::format("{}:{}", reference.name, other.text()));
        }
    }
    return out;
}

// What the code would need if some of it were ported: first as it is, then without one, without two ... and
// nothing.
std::vector<std::optional<Value>> fewer_uses(const Value& value) {
    std::vector<std::string> names;
    for (const auto& item : value.items)
        names.push_back(item.first);
    constexpr std::size_t most = 4;  // all parts of a list are looked at
    std::vector<std::vector<std::string>> lists;
    for (std::uint32_t left_out = 1; names.size() <= most && left_out + 1 < 1u << names.size(); ++left_out) {
        auto& list = lists.emplace_back();
        for (std::size_t i = 0; i < names.size(); ++i) {
            if ((left_out >> i & 1u) == 0) list.push_back(names[i]);
        }
    }
    std::stable_sort(lists.begin(), lists.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
    std::vector<std::optional<Value>> out{value};
    for (const auto& list : lists) {
        auto fewer = value_from_text(Field::uses, text::join(list, ","));
        if (std::holds_alternative<Value>(fewer)) out.emplace_back(std::get<Value>(std::move(fewer)));
    }
    out.emplace_back(std::nullopt);
    return out;
}

// The slots of a cell, each with the value that it has and those that it could have.
class Around {
  public:
    Around(const Facts& facts, const std::string& today, const Cell& cell, const Setting& setting)
        : facts_(facts), today_(today), setting_(setting) {
        for (const auto& field : all_fields()) {
            if (const auto* value = cell.get(field.field)) add(field.field, *value);
        }
        // The fix of a finding may meet a second one, whose fix leads on.
        learn(cell, 2);
        std::stable_sort(slots_.begin(), slots_.end(),
                         [](const Slot& a, const Slot& b) { return ease(a.field) < ease(b.field); });
    }

    [[nodiscard]] std::vector<Slot> take() && { return std::move(slots_); }

  private:
    void add(Field field, const Value& value) {
        if (field == Field::packages) {
            for (const auto& [name, version] : value.items) {
                auto slot = slot_of_package(facts_, name);
                slot.add(Value{version, value.where, {}});
                slots_.push_back(std::move(slot));
            }
            return;
        }
        auto slot = slot_of(facts_, field);
        if (field == Field::uses) {
            slot.values = fewer_uses(value);
            slots_.push_back(std::move(slot));
            return;
        }
        if (field == Field::image) {
            for (const auto& text : sister_images(facts_, value.text))
                take(slot, text);
        }
        slot.add(value);
        slots_.push_back(std::move(slot));
    }

    static void take(Slot& slot, const std::string& text) {
        auto value = value_from_text(slot.field, text);
        if (std::holds_alternative<Value>(value)) slot.add(std::get<Value>(std::move(value)));
    }

    void offer(Field field, const std::string& text) {
        auto value = value_from_text(field, text);
        if (std::holds_alternative<ValueProblem>(value)) return;
        for (auto& slot : slots_) {
            if (slot.field != field) continue;
            if (slot.package.empty()) slot.add(std::get<Value>(value));
            for (const auto& [name, version] : std::get<Value>(value).items) {
                if (name == slot.package) slot.add(Value{version, {}, {}});
            }
        }
    }

    void learn(const Cell& cell, int depth) {
        const auto learn_of = [&](const rules::Rule& rule) {
            if (!rules::applies(rule, cell)) return;
            for (const auto& finding : rules::evaluate(rule, cell, facts_, today_)) {
                if (finding.verdict() <= kGoodEnough) continue;
                for (const auto& option : finding.fixes)
                    follow(cell, option, depth);
            }
        };
        for (const auto& rule : rules::all_rules())
            learn_of(rule);
        for (const auto* rule : setting_.own)
            learn_of(*rule);
    }

    void follow(const Cell& cell, const FixOption& option, int depth) {
        std::deque<Value> storage;
        auto changed = cell;
        for (const auto& [field, text] : option.set) {
            offer(field, text);
            auto value = value_from_text(field, text);
            if (std::holds_alternative<Value>(value))
                changed.set(field, &storage.emplace_back(std::get<Value>(std::move(value))));
        }
        if (depth > 1 && !storage.empty()) learn(changed, depth - 1);
    }

    const Facts& facts_;
    const std::string& today_;
    const Setting& setting_;
    std::vector<Slot> slots_;
};

Picks picks_of(const std::vector<Slot>& slots, const Cell& cell) {
    Picks picks;
    for (const auto& slot : slots) {
        const auto* value = cell.get(slot.field);
        std::string_view text = value->text;
        for (const auto& [name, version] : value->items) {
            if (!slot.package.empty() && name == slot.package) text = version;
        }
        picks.push_back(slot.find(text).value_or(0));
    }
    return picks;
}

// All values but the present one, the nearest first, of two as near the newer.
std::vector<std::uint32_t> others(const Slot& slot, std::uint32_t present) {
    std::vector<std::uint32_t> out;
    const auto count = static_cast<std::uint32_t>(slot.values.size());
    for (std::uint32_t step = 1; step < count; ++step) {
        if (step <= present) out.push_back(present - step);
        if (present + step < count) out.push_back(present + step);
    }
    return out;
}

class Stepping {
  public:
    Stepping(Oracle& oracle, Picks picks, std::size_t most)
        : oracle_(oracle), picks_(std::move(picks)), most_(most) {
        for (std::size_t rule = 0; rule < oracle_.size(); ++rule) {
            if (oracle_.verdict(rule, picks_) > kGoodEnough) against_.push_back(rule);
        }
    }

    Nearest run() {
        for (std::size_t steps = 1; !against_.empty() && steps <= kMostSteps && found_.empty(); ++steps)
            choose(steps, 0);
        return {std::move(found_), budget_ != 0};
    }

  private:
    // Every set of `left` more slots behind `from`.
    void choose(std::size_t left, std::size_t from) {
        if (left == 0) return attempt();
        for (std::size_t slot = from; slot < picks_.size() && found_.size() < most_ && budget_ != 0; ++slot) {
            if (oracle_.slots()[slot].values.size() < 2) continue;
            changed_.push_back(slot);
            choose(left - 1, slot + 1);
            changed_.pop_back();
        }
    }

    void attempt() {
        const auto is_touched = [&](std::size_t rule) {
            const auto& reads = oracle_.reads(rule);
            return std::any_of(changed_.begin(), changed_.end(), [&](std::size_t slot) {
                return std::find(reads.begin(), reads.end(), slot) != reads.end();
            });
        };
        if (!std::all_of(against_.begin(), against_.end(), is_touched)) return;
        Domains domains;
        for (std::size_t slot = 0; slot < picks_.size(); ++slot)
            domains.push_back({picks_[slot]});
        for (const auto slot : changed_)
            domains[slot] = others(oracle_.slots()[slot], picks_[slot]);
        Search search(oracle_, std::move(domains));
        search.set_budget(budget_);
        auto picks = search.first(Verdict::accepted);
        if (!picks) picks = search.first(kGoodEnough);
        budget_ = search.budget();
        if (picks) keep(*picks);
    }

    void keep(const Picks& picks) {
        Neighbour out{{}, stack_of(oracle_, picks)};
        for (const auto slot : changed_) {
            const auto& about = oracle_.slots()[slot];
            const auto text_of = [&](std::uint32_t value) {
                return about.values[value] ? about.values[value]->text : std::string("nothing");
            };
            out.steps.push_back({std::string(about.name()), text_of(picks_[slot]), text_of(picks[slot])});
        }
        found_.push_back(std::move(out));
    }

    Oracle& oracle_;
    Picks picks_;
    std::size_t most_;
    std::vector<std::size_t> against_;
    std::vector<std::size_t> changed_;
    std::vector<Neighbour> found_;
    std::uint64_t budget_ = kMostTried;
};

}  // namespace

Nearest nearest(const Facts& facts, const std::string& today, const Cell& cell, const Setting& setting,
                std::size_t most) {
    auto slots = Around(facts, today, cell, setting).take();
    auto picks = picks_of(slots, cell);
    Oracle oracle(facts, today, std::move(slots), setting);
    return Stepping(oracle, std::move(picks), most).run();
}

}  // namespace cudamatrix::solve
