// torch's inductor imports parts of triton that move between its releases: a torch is made for one triton.
#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/rule.hpp"
#include "knowledge/rules/stand_ins.hpp"

namespace cudamatrix::rules {
namespace {

// NVIDIA's own torch is made for NVIDIA's own triton, which its image holds.
void judge_in_image(Ask& ask, const ImageTorch& torch, const NamedTriton& named) {
    const auto triton = torch.row ? Version::parse(torch.row->text("triton")) : std::nullopt;
    ask.question(torch.about(ask, Field::packages),
                 fmt::format("whether torch.compile works with {} in its place", named.text));
    if (!triton) {
        unknown_of(ask, torch, "which triton is in").without(named.package);
        return;
    }
    ask.reword(fmt::format("whether torch.compile of {} works with {}", torch.text, named.text));
    if (triton->major_minor() == named.version->major_minor()) return ask.accept(torch.facts());
    ask.degrade(
           "torch.compile of {} is made for the triton {} there, not {}: imports from another release "
           "may fail; eager mode works",
           torch.text, triton->text(), named.text)
        .because(torch.facts())
        .without(named.package);
}

// Of another minor than torch is made for.
Answer differs(Ask& ask, const Row& row, const std::string& torch, const NamedTriton& named) {
    const auto version = pep440::Version::parse(named.version->text());
    if (row.has("triton_key") && version && !covers(row, "triton_key", *version))
        return ask.reject(
            "torch.compile of torch {} is made for triton {}, not {}: it imports triton_key from "
            "triton.compiler.compiler, where that has none; eager mode works",
            torch, row.text("triton"), named.text);
    return ask.degrade(
        "torch.compile of torch {} is made for triton {}, not {}: imports from another release may "
        "fail; eager mode works",
        torch, row.text("triton"), named.text);
}

void judge_triton_matches_torch(Ask& ask) {
    const auto named = named_triton(ask);
    if (!named || !named->version || !wants_torch(ask)) return;  // of its version the install stage asks
    if (const auto own = image_torch(ask)) return judge_in_image(ask, *own, *named);
    const auto build = if_known(torch_build(ask));
    if (!build) return;
    const auto torch = build->torch.exact.text();
    ask.question({Field::packages, Field::torch}, fmt::format("whether it works with {}", named->text));
    const auto row = compile_row(ask.facts, build->torch.release->text("torch"));
    if (!row) {
        if (!before_compile(ask.facts, build->torch.exact))
            ask.unknown(Field::torch, "no fact knows the triton of torch {}", torch);
        return;
    }
    ask.reword(fmt::format("whether torch.compile of torch {} works with {}", torch, named->text));
    const auto triton = lookup::required_version(*row, "triton");
    if (triton.major_minor() == named->version->major_minor()) return ask.accept({row->ref()});
    differs(ask, *row, torch, *named)
        .because(row->ref())
        .fix(with_package(ask, named->package, row->text("triton")));
}

}  // namespace

Rule triton_matches_torch() {
    return {.id = "triton-matches-torch",
            .stage = Stage::torch_compile,
            .summary = "The cell's triton is of the minor that its torch release is made for.",
            .why =
                "torch's inductor imports names of triton that move from release to release, and ends with "
                "\"cannot import name 'triton_key'\" or \"cannot import name 'AttrsDescriptor'\" before it "
                "compiles anything. A neighbouring release often works, and eager mode always does: hence "
                "degraded, and rejected where the wheels show that the import fails.",
            .fails = "torch: 2.4.0, packages: {triton: 3.7.0}",
            .passes = "torch: 2.8.0, packages: {triton: 3.4.0}",
            .reads = {Field::torch, Field::arch, Field::packages, Field::image, Field::family, Field::cuda,
                      Field::python, Field::os},
            .needs = {{Field::torch}, {Field::packages}},
            .judge = judge_triton_matches_torch,
            .monotone = {Field::torch, Field::packages}};
}

}  // namespace cudamatrix::rules
