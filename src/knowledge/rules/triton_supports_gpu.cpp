// inductor refuses GPUs that are too old for triton, and triton's own assembler does not know those that are
// too new.
#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/rules/rule.hpp"
#include "knowledge/rules/stand_ins.hpp"

namespace cudamatrix::rules {
namespace {

bool gpu_too_old(const Row& row, const Device& gpu) {
    return *Version::parse(gpu.compute) < lookup::required_version(row, "gpu_min");
}

std::optional<Row> triton_of(const Context& context, const Row& row) {
    return context.facts.row(fmt::format("triton-{}", row.text("triton")));
}

// Builds that work, of those that torch-ships-compute accepts.
void warn_too_old(Ask& ask, const TorchBuild& build, const Device& gpu, const Row& row) {
    ask.question({Field::torch, gpu.field}, ask.text());
    ask.reject("torch.compile of {} does not work on {}: triton needs compute >= {}; eager mode works",
               build.text, gpu.text, row.text("gpu_min"))
        .because(gpu.facts)
        .because(row.ref())
        .accepted_other(Field::torch);
}

// Few facts say which triton is in an image of NVIDIA's own, and with which assembler: without one only the
// floor of inductor is judged. A note says that the rest is not: only torch.compile is at stake.
void judge_in_image(Ask& ask, const ImageTorch& torch, const Device& gpu) {
    ask.question(torch.about(ask, gpu.field), fmt::format("whether torch.compile works on {}", gpu.text));
    const auto before = ask.out().size();
    judge_stand_ins(ask, torch, [&](Ask& each, const TorchBuild& build) {
        const auto row = compile_row(each.facts, build.torch.release->text("torch"));
        if (row && gpu_too_old(*row, gpu)) warn_too_old(each, build, gpu, *row);
    });
    if (ask.out().size() != before) return;
    ask.note("no fact says which ptxas the triton of {} assembles with: {} is not checked", torch.image,
             ask.text())
        .because(torch.facts());
}

void judge_triton_supports_gpu(Ask& ask) {
    if (!wants_torch(ask)) return;
    const auto gpu = if_known(device(ask));
    if (!gpu) return;
    if (const auto own = image_torch(ask)) return judge_in_image(ask, *own, *gpu);
    const auto build = if_known(torch_build(ask));
    // Other rules report unknown words and builds without CUDA.
    if (!build || build->torch.variant == "cpu") return;
    const auto row = compile_row(ask.facts, build->torch.release->text("torch"));
    if (!row && before_compile(ask.facts, build->torch.exact)) return;
    ask.question({Field::torch, gpu->field}, fmt::format("whether torch.compile works on {}", gpu->text));
    const auto triton = row ? triton_of(ask, *row) : std::nullopt;
    if (!triton) {
        ask.unknown(Field::torch, "no fact describes the triton of {}", build->text);
        return;
    }
    if (gpu_too_old(*row, *gpu)) return warn_too_old(ask, *build, *gpu, *row);
    auto facts = gpu->facts;
    facts.insert(facts.end(), {row->ref(), triton->ref()});
    if (contains(triton->list("targets"), gpu->compute)) return ask.accept(std::move(facts));
    ask.reject(
           "torch.compile of {} does not work on {}: the ptxas in its triton {} does not know compute {} "
           "(TRITON_PTXAS_PATH may name a newer one)",
           build->text, gpu->text, triton->text("triton"), gpu->compute)
        .because(facts)
        .accepted_other(Field::torch);
}

}  // namespace

Rule triton_supports_gpu() {
    return {
        .id = "triton-supports-gpu",
        .stage = Stage::torch_compile,
        .summary = "torch.compile can compile for the GPU: inductor takes it and triton's ptxas knows it.",
        .why =
            "inductor raises below compute 7.0 (\"too old to be supported by the triton GPU compiler\"), "
            "and the ptxas in the triton wheel stops at GPUs newer than itself (\"Value 'sm_121a' is "
            "not defined for option 'gpu-name'\"). Only torch.compile is lost: the cell is degraded "
            "unless `stages` asks for torch_compile.",
        .fails = "torch: 2.6.0+cu124, gpu: P100",
        .passes = "torch: 2.6.0+cu124, gpu: T4",
        .reads = {Field::torch, Field::arch, Field::gpu, Field::compute, Field::image, Field::family,
                  Field::cuda, Field::python, Field::os},
        .needs = {{Field::torch}, {Field::gpu, Field::compute}},
        .judge = judge_triton_supports_gpu};
}

}  // namespace cudamatrix::rules
