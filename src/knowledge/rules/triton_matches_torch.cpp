// torch's inductor imports parts of triton that move between its releases: a torch is made for one triton.
#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/image_torch.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/resolve/triton.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::torch_compile;

// NVIDIA's own torch is made for NVIDIA's own triton, which its image holds.
void judge_own_torch(const Context& context, const ImageTorch& torch, const NamedTriton& named,
                     Findings& out) {
    if (!named.version) return;  // the install stage asks
    const auto triton = torch.row ? Version::parse(torch.row->text("triton")) : std::nullopt;
    if (!triton) {
        auto open = unknown_of(context, torch, kStage, "", Field::packages, "which triton is in",
                               fmt::format("whether torch.compile works with {} in its place", named.text));
        open.fixes.push_back(without_package(context, named.package));
        out.push_back(std::move(open));
        return;
    }
    const auto question = fmt::format("whether torch.compile of {} works with {}", torch.text, named.text);
    if (triton->major_minor() == named.version->major_minor())
        return accept(context, out, kStage, "", torch.about(context, Field::packages), question,
                      torch.facts());
    auto warning =
        finding(Severity::warning, kStage, "", torch.about(context, Field::packages),
                fmt::format("torch.compile of {} is made for the triton {} there, not {}: imports from "
                            "another release may fail; eager mode works",
                            torch.text, triton->text(), named.text),
                torch.facts());
    warning.fixes.push_back(without_package(context, named.package));
    out.push_back(std::move(warning));
}

void judge(const Context& context, Findings& out) {
    const auto named = named_triton(context);
    if (!named || !wants_torch(context)) return;
    if (const auto own = image_torch(context)) return judge_own_torch(context, *own, *named, out);
    const auto torch = torch_build(context);
    const auto* build = std::get_if<TorchBuild>(&torch);
    if (build == nullptr || !named->version) return;  // the install stage asks
    const auto row = compile_row(context.facts, build->torch.release->text("torch"));
    const std::vector<Field> about{Field::packages, Field::torch};
    if (!row) {
        if (before_compile(context.facts, build->torch.exact)) return;
        const Unresolved gap{
            Field::torch, fmt::format("no fact knows the triton of torch {}", build->torch.exact.text()), {}};
        out.push_back(unknown(kStage, "", about, gap, fmt::format("whether it works with {}", named->text)));
        return;
    }
    if (lookup::required_version(*row, "triton").major_minor() == named->version->major_minor()) {
        accept(context, out, kStage, "", about,
               fmt::format("whether torch.compile of torch {} works with {}", build->torch.exact.text(),
                           named->text),
               {row->ref()});
        return;
    }
    auto warning = finding(
        Severity::warning, kStage, "", about,
        fmt::format("torch.compile of torch {} is made for triton {}, not {}: imports from another release "
                    "may fail; eager mode works",
                    build->torch.exact.text(), row->text("triton"), named->text),
        {row->ref()});
    warning.fixes.push_back(with_package(context, named->package, row->text("triton")));
    out.push_back(std::move(warning));
}

}  // namespace

Rule triton_matches_torch() {
    return {.id = "triton-matches-torch",
            .stage = kStage,
            .summary = "The cell's triton is of the minor that its torch release is made for.",
            .why =
                "torch's inductor imports names of triton that move from release to release, and ends with "
                "\"cannot import name 'triton_key'\" or \"cannot import name 'AttrsDescriptor'\" before it "
                "compiles anything. A neighbouring release often works, and eager mode always does: hence "
                "degraded.",
            .fails = "torch: 2.4.0, packages: {triton: 3.7.0}",
            .passes = "torch: 2.8.0, packages: {triton: 3.4.0}",
            .reads = {Field::torch, Field::arch, Field::packages, Field::image, Field::family, Field::cuda,
                      Field::python, Field::os},
            .needs = {{Field::torch}, {Field::packages}},
            .judge = plain(judge),
            .add_up = {Field::torch, Field::packages}};
}

}  // namespace cudamatrix::rules
