#include "knowledge/solve/variable.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "knowledge/resolve/images.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::solve {
namespace {

// What changes most easily comes first: software, then the driver and the system, then the machine and the
// work.
constexpr std::array kByChangeCost{
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

void take(Variable& variable, const std::string& text) {
    auto value = value_from_text(variable.field, text);
    if (std::holds_alternative<Value>(value)) variable.add(std::get<Value>(std::move(value)));
}

Variable neighbours_of(const Facts& facts, Field field, const Value& value) {
    auto variable = variable_of(facts, field);
    if (field == Field::uses) {
        variable.values = fewer_uses(value);
        return variable;
    }
    if (field == Field::image) {
        for (const auto& text : sister_images(facts, value.text))
            take(variable, text);
    }
    variable.add(value);
    return variable;
}

}  // namespace

std::size_t change_cost(Field field) {
    return static_cast<std::size_t>(std::find(kByChangeCost.begin(), kByChangeCost.end(), field) -
                                    kByChangeCost.begin());
}

bool is_given(Field field) {
    return change_cost(field) >= change_cost(Field::gpu);
}

std::vector<Variable> neighbourhood(const Facts& facts, const Cell& cell) {
    std::vector<Variable> variables;
    for (const auto& field : all_fields()) {
        const auto* value = cell.get(field.field);
        if (value == nullptr) continue;
        if (field.field != Field::packages) {
            variables.push_back(neighbours_of(facts, field.field, *value));
            continue;
        }
        for (const auto& [name, version] : value->items) {
            auto& variable = variables.emplace_back(variable_of_package(facts, name));
            variable.add(Value{version, value->where, {}});
        }
    }
    return variables;
}

std::vector<Variable> variables_of(const Cell& cell) {
    std::vector<Variable> variables;
    for (const auto& field : all_fields()) {
        const auto* value = cell.get(field.field);
        if (value == nullptr) continue;
        if (field.field != Field::packages) {
            variables.push_back({.field = field.field, .values = {*value}});
            continue;
        }
        for (const auto& [name, version] : value->items)
            variables.push_back({Field::packages, name, {Value{version, value->where, {}}}});
    }
    return variables;
}

void offer(std::vector<Variable>& variables, Field field, const std::string& text) {
    auto value = value_from_text(field, text);
    if (std::holds_alternative<ValueProblem>(value)) return;
    for (auto& variable : variables) {
        if (variable.field != field) continue;
        if (variable.package.empty()) variable.add(std::get<Value>(value));
        for (const auto& [name, version] : std::get<Value>(value).items) {
            if (name == variable.package) variable.add(Value{version, {}, {}});
        }
    }
}

Assignment assignment_of(const std::vector<Variable>& variables, const Cell& cell) {
    Assignment assignment;
    for (const auto& variable : variables) {
        const auto* value = cell.get(variable.field);
        const auto at = value == nullptr ? std::nullopt : index_of(variable, *value);
        assignment.push_back(at ? *at : variable.nothing().value_or(0));
    }
    return assignment;
}

std::optional<std::uint32_t> index_of(const Variable& variable, const Value& value) {
    if (variable.package.empty()) return variable.find(value.text);
    for (const auto& [name, version] : value.items) {
        if (name == variable.package) return variable.find(version);
    }
    return std::nullopt;
}

std::vector<std::uint32_t> others(const Variable& variable, std::uint32_t present) {
    std::vector<std::uint32_t> out;
    const auto count = static_cast<std::uint32_t>(variable.values.size());
    for (std::uint32_t step = 1; step < count; ++step) {
        if (step <= present) out.push_back(present - step);
        if (present + step < count) out.push_back(present + step);
    }
    return out;
}

}  // namespace cudamatrix::solve
