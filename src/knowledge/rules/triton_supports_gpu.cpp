// inductor refuses GPUs that are too old for triton, and triton's own assembler does not know those that are
// too new.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/gpu_code.hpp"
#include "knowledge/resolve/image_torch.hpp"
#include "knowledge/resolve/torch_options.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::torch_compile;

bool too_old(const Row& row, const Device& gpu) {
    return *Version::parse(gpu.compute) < lookup::required_version(row, "gpu_min");
}

std::optional<Row> triton_of(const Context& context, const Row& row) {
    return context.facts.row(fmt::format("triton-{}", row.text("triton")));
}

bool works(const Context& context, const Row& wheel, const Device& gpu) {
    // Not one that torch-ships-compute refuses.
    if (!has_code(wheel, "compute", device_arch(gpu.arch))) return false;
    const auto row = compile_row(context.facts, wheel.text("torch"));
    const auto triton = row ? triton_of(context, *row) : std::nullopt;
    return triton && !too_old(*row, gpu) && contains(triton->list("targets"), gpu.compute);
}

void warn(const Context& context, const Device& gpu, std::string message, std::vector<FactRef> facts,
          Findings& out) {
    auto warning = finding(Severity::warning, kStage, "", {Field::torch, gpu.field}, std::move(message),
                           std::move(facts));
    warning.fixes = torch_options(context, [&](const Row& wheel) { return works(context, wheel, gpu); });
    out.push_back(std::move(warning));
}

void warn_too_old(const Context& context, const TorchBuild& build, const Device& gpu, const Row& row,
                  Findings& out) {
    auto facts = gpu.facts;
    facts.push_back(row.ref());
    warn(context, gpu,
         fmt::format("torch.compile of {} does not work on {}: triton needs compute >= {}; eager mode works",
                     build.text, gpu.text, row.text("gpu_min")),
         std::move(facts), out);
}

// Which triton is in an image of NVIDIA's own, and with which assembler, few facts say: without one only the
// floor of inductor is judged, and that the rest is not is a note, because nothing but torch.compile is at
// stake.
void judge_own_torch(const Context& context, const ImageTorch& torch, const Device& gpu, Findings& out) {
    const auto question = fmt::format("whether torch.compile works on {}", gpu.text);
    const auto judge_one = [&](const Context& other, const TorchBuild& build, Findings& found) {
        const auto row = compile_row(other.facts, build.torch.release->text("torch"));
        if (row && too_old(*row, gpu)) warn_too_old(other, build, gpu, *row, found);
    };
    const auto before = out.size();
    judge_image_torch(context, torch, kStage, gpu.field, question, judge_one, out);
    if (out.size() != before) return;
    out.push_back(finding(Severity::note, kStage, "", torch.about(context, gpu.field),
                          fmt::format("no fact says which ptxas the triton of {} assembles with: {} is not "
                                      "checked",
                                      torch.image, question),
                          torch.facts()));
}

void judge(const Context& context, Findings& out) {
    if (!wants_torch(context)) return;
    if (const auto own = image_torch(context)) {
        const auto on = device(context);
        if (const auto* gpu = std::get_if<Device>(&on)) judge_own_torch(context, *own, *gpu, out);
        return;
    }
    const auto torch = torch_build(context);
    const auto resolved = device(context);
    const auto* build = std::get_if<TorchBuild>(&torch);
    const auto* gpu = std::get_if<Device>(&resolved);
    // Unknown words and builds without CUDA are other rules' findings.
    if (build == nullptr || gpu == nullptr || build->torch.variant == "cpu") return;
    const auto row = compile_row(context.facts, build->torch.release->text("torch"));
    if (!row && before_compile(context.facts, build->torch.exact)) return;
    const std::vector<Field> about{Field::torch, gpu->field};
    const auto question = fmt::format("whether torch.compile works on {}", gpu->text);
    const auto triton = row ? triton_of(context, *row) : std::nullopt;
    if (!triton) {
        const Unresolved gap{
            Field::torch, fmt::format("no fact describes the triton of {}", build->text), {}};
        out.push_back(unknown(kStage, "", about, gap, question));
        return;
    }
    auto facts = gpu->facts;
    facts.push_back(row->ref());
    if (too_old(*row, *gpu)) return warn_too_old(context, *build, *gpu, *row, out);
    facts.push_back(triton->ref());
    if (!contains(triton->list("targets"), gpu->compute)) {
        return warn(
            context, *gpu,
            fmt::format("torch.compile of {} does not work on {}: the ptxas in its triton {} does not "
                        "know compute {} (TRITON_PTXAS_PATH may name a newer one)",
                        build->text, gpu->text, triton->text("triton"), gpu->compute),
            std::move(facts), out);
    }
    accept(context, out, kStage, "", about, question, std::move(facts));
}

}  // namespace

Rule triton_supports_gpu() {
    return {
        .id = "triton-supports-gpu",
        .stage = kStage,
        .summary = "torch.compile can compile for the GPU: inductor takes it and triton's ptxas knows it.",
        .why =
            "inductor raises below compute 7.0 (\"too old to be supported by the triton GPU compiler\"), "
            "and the ptxas in the triton wheel stops at GPUs newer than itself (\"Value 'sm_121a' is "
            "not defined for option 'gpu-name'\"). Only torch.compile is lost, and a rule cannot see "
            "whether the code calls it, so the cell is degraded, not rejected.",
        .fails = "torch: 2.6.0+cu124, gpu: P100",
        .passes = "torch: 2.6.0+cu124, gpu: T4",
        .reads = {Field::torch, Field::arch, Field::gpu, Field::compute, Field::image, Field::family,
                  Field::cuda, Field::python, Field::os},
        .needs = {{Field::torch}, {Field::gpu, Field::compute}},
        .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
