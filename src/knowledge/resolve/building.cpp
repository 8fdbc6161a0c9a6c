#include "knowledge/resolve/building.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "fatbin/cover.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/resolve/resolve.hpp"

namespace cudamatrix::rules {
namespace {

constexpr std::string_view kVariable = "TORCH_CUDA_ARCH_LIST";
constexpr std::string_view kPtxOnly = "ptx-only";  // a word of the field uses

}  // namespace

std::optional<HostCompiler> host_compiler(std::string_view text) {
    const auto dash = text.find('-');
    if (dash == text.npos) return std::nullopt;
    const auto name = text.substr(0, dash);
    const auto version = Version::parse(text.substr(dash + 1));
    if ((name != "gcc" && name != "clang") || !version) return std::nullopt;
    return HostCompiler{name, *version};
}

Part part_within(const Version& written, const Version& first, const Version& last) {
    const bool below = written < first && !written.covers(first);
    const bool above = last < written && !last.covers(written);
    if (below || above) return Part::none;
    const bool ends_inside = last.covers(written) || (written < last && !written.covers(last));
    return written >= first && ends_inside ? Part::all : Part::some;
}

Part part_within(const Version& written, const Row& row, std::string_view first, std::string_view last) {
    return part_within(written, lookup::required_version(row, first), lookup::required_version(row, last));
}

bool says_it_builds(const ProjectedCell& cell) {
    return cell.has(Field::compiler) || cell.has(Field::arch_list) || cell.has(Field::uses) ||
           cell.text(Field::flavour) == "devel";
}

bool has_compilers(const ProjectedCell& cell) {
    return cell.has(Field::compiler) || cell.text(Field::flavour) == "devel" ||
           cell.text(Field::image).find("-devel") != std::string_view::npos;
}

bool gets_image(const ProjectedCell& cell) {
    return !cell.has(Field::image) && (cell.has(Field::family) || cell.has(Field::flavour));
}

bool compiles(const ProjectedCell& cell) {
    if (says_it_builds(cell) || has_compilers(cell)) return true;
    const bool has_torch = cell.has(Field::torch) && cell.text(Field::torch) != "none";
    return cell.has(Field::cuda) && !has_torch && !cell.has(Field::flavour);
}

bool says_it_does_not_build(const Context& context) {
    return context.cell.has(Field::flavour) && context.cell.text(Field::flavour) != "devel";
}

bool is_ptx_only(const Context& context) {
    const auto* uses = context.cell.value(Field::uses);
    return uses != nullptr && std::any_of(uses->items.begin(), uses->items.end(),
                                          [](const auto& item) { return item.first == kPtxOnly; });
}

bool has_names(std::string_view list) {
    return text::replace_all(list, "+PTX", "").find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") !=
           std::string::npos;
}

std::vector<ArchEntry> arch_entries(std::string_view list, facts::Values named) {
    auto spelt = text::replace_all(list, " ", ";");
    for (const auto pair : named) {
        const auto equals = pair.find('=');
        spelt = text::replace_all(spelt, pair.substr(0, equals), pair.substr(equals + 1));
    }
    std::vector<ArchEntry> entries;
    for (const auto& part : text::split(spelt, ';')) {
        std::string_view arch = part;
        const bool ptx = arch.ends_with("+PTX");
        if (ptx) arch.remove_suffix(4);
        entries.push_back({part, fatbin::parse_arch(arch), ptx});
    }
    return entries;
}

std::string ArchList::named() const {
    return fmt::format("{} {}", field == Field::env ? kVariable : info(field).name, text);
}

std::optional<ArchList> arch_list(const Context& context) {
    // Without a value it is as good as not there.
    if (const auto variable = member(context, Field::env, kVariable); variable && !variable->empty())
        return ArchList{Field::env, std::string(*variable)};
    if (!context.cell.has(Field::arch_list)) return std::nullopt;
    return ArchList{Field::arch_list, std::string(context.cell.text(Field::arch_list))};
}

FixOption with_arch_list(const Context& context, const ArchList& list, std::string_view text) {
    if (list.field != Field::env) return set_to(list.field, text);
    const auto set = fmt::format("{}={}", kVariable, text);
    return set_to(
        Field::env,
        text::replace_all(context.cell.text(Field::env), fmt::format("{}={}", kVariable, list.text), set),
        set);
}

ArchCover cover(const std::vector<ArchEntry>& entries, const fatbin::Arch& device) {
    ArchCover out;
    for (const auto& entry : entries) {
        if (!entry.arch) continue;
        out.sass = out.sass || fatbin::sass_runs_on(*entry.arch, device);
        if (entry.ptx && fatbin::ptx_compiles_for(*entry.arch, device)) out.ptx = entry.text;
    }
    return out;
}

FixOption with_gpu_in_list(const Context& context, const ArchList& list, const Device& gpu) {
    return with_arch_list(context, list,
                          fmt::format("{};{}", text::replace_all(list.text, " ", ";"), gpu.compute));
}

std::optional<ListedPtx> ptx_only_list(const Context& context) {
    auto list = arch_list(context);
    if (!list || !(context.cell.has(Field::gpu) || context.cell.has(Field::compute))) return std::nullopt;
    auto gpu = if_known(device(context));
    if (!gpu) return std::nullopt;
    auto facts = gpu->facts;
    std::optional<Row> row;
    if (has_names(list->text)) {
        row = torch_names(context);
        if (!row) return std::nullopt;
        facts.push_back(row->ref());
    }
    const auto entries = arch_entries(list->text, row ? row->list("named") : facts::Values());
    const auto found = cover(entries, device_arch(gpu->arch));
    if (found.sass || found.ptx.empty()) return std::nullopt;
    return ListedPtx{*std::move(list), std::move(*gpu), std::move(facts)};
}

std::optional<Row> torch_names(const Context& context) {
    if (!wants_torch(context)) return std::nullopt;
    const auto build = if_known(torch_build(context));
    if (!build) return std::nullopt;
    return extension_row(context.facts, build->torch.release->text("torch"));
}

std::optional<Row> extension_row(const Facts& facts, std::string_view torch) {
    return facts.row(fmt::format("torch-extension-{}", torch));
}

std::optional<Row> compile_row(const Facts& facts, std::string_view torch) {
    return facts.row(fmt::format("torch-compile-{}", torch));
}

bool before_compile(const Facts& facts, const Version& torch) {
    const auto rows = facts.rows("torch_compile");  // sorted
    return !rows.empty() && torch < lookup::required_version(rows.front(), "torch");
}

}  // namespace cudamatrix::rules
