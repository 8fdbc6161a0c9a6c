// On Windows torch brings no triton, and torch.compile has nothing to compile for the GPU with.
#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/resolve/triton.hpp"
#include "knowledge/resolve/wheel_os.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::torch_compile;

void judge(const Context& context, Findings& out) {
    const auto os = other_os(context);
    // Without a CUDA variant the build there is for the CPU, which torch-published-for-arch says.
    if (!os || !wants_torch(context) || !names_cuda_variant(context)) return;
    if (os->row.text("cuda_wheels") == "false") return;
    const auto torch = torch_build(context);
    const auto* build = std::get_if<TorchBuild>(&torch);
    if (build == nullptr || never_published(*build)) return;
    const auto row = compile_row(context.facts, build->torch.release->text("torch"));
    if (!row) return;  // before 2.0 there is no torch.compile; newer ones: dynamo-supports-python
    const bool refuses = row->text("windows") == "false";
    // Of triton itself there are wheels for Linux only.
    const auto named = named_triton(context);
    const bool fills = named && named->package == "triton-windows";
    if (contains(row->list("triton_os"), os->os) || (fills && !refuses)) {
        return passed(context, [&] {
            return Acceptance{{},
                              kStage,
                              {Field::os, Field::torch},
                              fmt::format("whether torch.compile of {} has triton on {}", build->text,
                                          os->row.text("name")),
                              {row->ref(), os->row.ref()}};
        });
    }
    auto warning =
        finding(Severity::warning, kStage, "", {Field::os, Field::torch},
                fmt::format("torch.compile of {} does not work on {}: {}; eager mode works", build->text,
                            os->row.text("name"),
                            refuses ? "it refuses the system"
                                    : "torch brings triton, its compiler for GPUs, for Linux only"),
                {row->ref(), os->row.ref()});
    if (!refuses) warning.fixes.push_back(with_package(context, "triton-windows", row->text("triton")));
    offer_linux(context, warning);
    out.push_back(std::move(warning));
}

}  // namespace

Rule triton_comes_with_torch() {
    return {.id = "triton-comes-with-torch",
            .stage = kStage,
            .summary = "On the cell's system torch brings triton, which torch.compile needs for a GPU.",
            .why =
                "torch asks for triton on Linux only. On Windows torch.compile for a GPU ends with \"Cannot "
                "find a working triton installation\", and releases before 2.5 refuse the system outright: "
                "\"Windows not yet supported for torch.compile\". The package triton-windows fills the gap.",
            .fails = "os: windows, torch: 2.6.0+cu124",
            .passes = "os: ubuntu24.04, torch: 2.6.0+cu124",
            .reads = {Field::os, Field::torch, Field::arch, Field::packages},
            .needs = {{Field::os}, {Field::torch}},
            .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
