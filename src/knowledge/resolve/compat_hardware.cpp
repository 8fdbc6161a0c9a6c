#include "knowledge/resolve/compat_hardware.hpp"

#include "base/text.hpp"

namespace cudamatrix::rules {

Resolved<Hardware> compat_hardware(const Context& context) {
    const auto given = context.cell.text(Field::host_class);
    if (!given.empty())
        return Hardware{Field::host_class, std::string(given), fmt::format("host class {}", given), {}};
    const auto name = context.cell.text(Field::gpu);
    const auto row = lookup::gpu(context.facts, name);
    if (!row) return Unresolved{Field::gpu, fmt::format("no fact knows gpu {}", name), {}};
    return Hardware{Field::gpu,
                    std::string(row->text("class")),
                    fmt::format("{} (class {})", name, row->text("class")),
                    {row->ref()}};
}

namespace {

bool grants(const Context& context, std::string_view answer) {
    const auto resolved = compat_hardware(context);
    const auto* hardware = std::get_if<Hardware>(&resolved);
    if (hardware == nullptr) return false;
    const auto row = context.facts.row(fmt::format("class-{}", hardware->host_class));
    return row && row->text("forward_compatibility") == answer;
}

}  // namespace

bool refuses_compat(const Context& context) {
    return grants(context, "refused");
}

bool accepts_compat(const Context& context) {
    return grants(context, "supported");
}

std::optional<Version> branch_check_since(const Facts& facts) {
    return Version::parse(facts.row("policy-compat-hook")->text("since"));
}

bool toolkit_uses_any_branch(const Context& context) {
    const auto since = branch_check_since(context.facts);
    const auto toolkit = Version::parse(context.cell.text(Field::toolkit));
    return !since || !toolkit || *toolkit < *since;
}

}  // namespace cudamatrix::rules
