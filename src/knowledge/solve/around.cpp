#include "knowledge/solve/around.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "knowledge/resolve/images.hpp"
#include "matrix/value.hpp"

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

// Images of the same repository, kind and system as the cell's.
std::vector<std::string> sister_images(const Facts& facts, std::string_view text) {
    std::vector<std::string> out;
    const auto reference = rules::image_reference(text);
    const auto repository = rules::image_repository(facts, reference.repository);
    if (!repository) return out;
    if (const auto tag = rules::pytorch_tag(reference.tag); tag && repository->text("scheme") == "pytorch") {
        for (const auto& row : facts.rows("pytorch_images")) {
            for (const auto cuda : row.list("cuda")) {
                const auto other = lookup::pytorch_tag_of(row, cuda, tag->flavour);
                out.push_back(fmt::format("{}:{}", reference.name, other.text()));
            }
        }
    }
    if (const auto tag = rules::cuda_tag(reference.tag); tag && repository->text("scheme") == "cuda") {
        for (const auto& row : facts.rows("cuda_images")) {
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

void take(Slot& slot, const std::string& text) {
    auto value = value_from_text(slot.field, text);
    if (std::holds_alternative<Value>(value)) slot.add(std::get<Value>(std::move(value)));
}

Slot slot_around(const Facts& facts, Field field, const Value& value) {
    auto slot = slot_of(facts, field);
    if (field == Field::uses) {
        slot.values = fewer_uses(value);
        return slot;
    }
    if (field == Field::image) {
        for (const auto& text : sister_images(facts, value.text))
            take(slot, text);
    }
    slot.add(value);
    return slot;
}

}  // namespace

std::size_t ease(Field field) {
    return static_cast<std::size_t>(std::find(kEasiest.begin(), kEasiest.end(), field) - kEasiest.begin());
}

bool is_given(Field field) {
    return ease(field) >= ease(Field::gpu);
}

std::vector<Slot> slots_around(const Facts& facts, const Cell& cell) {
    std::vector<Slot> slots;
    for (const auto& field : all_fields()) {
        const auto* value = cell.get(field.field);
        if (value == nullptr) continue;
        if (field.field != Field::packages) {
            slots.push_back(slot_around(facts, field.field, *value));
            continue;
        }
        for (const auto& [name, version] : value->items) {
            auto& slot = slots.emplace_back(slot_of_package(facts, name));
            slot.add(Value{version, value->where, {}});
        }
    }
    return slots;
}

std::vector<Slot> slots_of_cell(const Cell& cell) {
    std::vector<Slot> slots;
    for (const auto& field : all_fields()) {
        const auto* value = cell.get(field.field);
        if (value == nullptr) continue;
        if (field.field != Field::packages) {
            slots.push_back({.field = field.field, .values = {*value}});
            continue;
        }
        for (const auto& [name, version] : value->items)
            slots.push_back({Field::packages, name, {Value{version, value->where, {}}}});
    }
    return slots;
}

void offer(std::vector<Slot>& slots, Field field, const std::string& text) {
    auto value = value_from_text(field, text);
    if (std::holds_alternative<ValueProblem>(value)) return;
    for (auto& slot : slots) {
        if (slot.field != field) continue;
        if (slot.package.empty()) slot.add(std::get<Value>(value));
        for (const auto& [name, version] : std::get<Value>(value).items) {
            if (name == slot.package) slot.add(Value{version, {}, {}});
        }
    }
}

Picks picks_of(const std::vector<Slot>& slots, const Cell& cell) {
    Picks picks;
    for (const auto& slot : slots) {
        const auto* value = cell.get(slot.field);
        const auto at = value == nullptr ? std::nullopt : pick_of(slot, *value);
        picks.push_back(at ? *at : slot.nothing().value_or(0));
    }
    return picks;
}

std::optional<std::uint32_t> pick_of(const Slot& slot, const Value& value) {
    if (slot.package.empty()) return slot.find(value.text);
    for (const auto& [name, version] : value.items) {
        if (name == slot.package) return slot.find(version);
    }
    return std::nullopt;
}

std::vector<std::uint32_t> others(const Slot& slot, std::uint32_t present) {
    std::vector<std::uint32_t> out;
    const auto count = static_cast<std::uint32_t>(slot.values.size());
    for (std::uint32_t step = 1; step < count; ++step) {
        if (step <= present) out.push_back(present - step);
        if (present + step < count) out.push_back(present + step);
    }
    return out;
}

}  // namespace cudamatrix::solve
