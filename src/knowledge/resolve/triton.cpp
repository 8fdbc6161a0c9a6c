#include "knowledge/resolve/triton.hpp"

#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/resolve/wheel_os.hpp"

namespace cudamatrix::rules {

std::optional<NamedTriton> named_triton(const Context& context) {
    for (const auto& package : packages_of(context)) {
        if (package.name != "triton" && package.name != "triton-windows") continue;
        // 3.5.0.post21 is a build of 3.5.0.
        const auto number = package.text.substr(package.text.find(' ') + 1);
        const auto post = number.find(".post");
        return NamedTriton{package.name, package.text, Version::parse(number.substr(0, post))};
    }
    return std::nullopt;
}

std::optional<CellTriton> cell_triton(const Context& context) {
    if (const auto named = named_triton(context)) {
        CellTriton out{Field::packages, named->text, {}, {}};
        if (named->version) out.row = context.facts.row(fmt::format("triton-{}", named->version->text()));
        if (out.row) out.facts.push_back(out.row->ref());
        return out;
    }
    // Which triton is in an image of NVIDIA's own no wheel says; its assembler is of the image's CUDA or
    // older, and what a driver makes of that driver-supports-cuda says.
    if (!wants_wheel(context)) return std::nullopt;
    const auto build = if_known(torch_build(context));
    if (!build || build->torch.variant == "cpu" || never_published(*build)) return std::nullopt;
    const auto row = compile_row(context.facts, build->torch.release->text("torch"));
    if (!row || other_os(context) || !contains(row->list("triton_arch"), build->arch)) return std::nullopt;
    CellTriton out;
    out.text = fmt::format("the triton {} of {}", row->text("triton"), build->text);
    out.row = context.facts.row(fmt::format("triton-{}", row->text("triton")));
    out.facts.push_back(row->ref());
    out.facts.push_back(out.row->ref());
    return out;
}

}  // namespace cudamatrix::rules
