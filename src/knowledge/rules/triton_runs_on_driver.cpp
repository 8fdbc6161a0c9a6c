// Triton assembles kernels with a ptxas of its own: a driver of an older CUDA major does not load what it
// makes.
#include <algorithm>
#include <cstdint>

#include "base/text.hpp"
#include "knowledge/resolve/host.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// The assembler in charge of the GPU.
std::optional<Version> ptxas_for(const Row& triton, const Device& gpu) {
    const auto from = Version::parse(triton.text("blackwell_from"));
    return Version::parse(
        triton.text(from && *Version::parse(gpu.compute) >= *from ? "ptxas_blackwell" : "ptxas"));
}

// torch's own libraries are of that major, too: driver-supports-cuda rejects the cell.
bool torch_is_too_new(const Context& context, std::uint32_t major) {
    const auto cuda = Version::parse(torch_cuda(context));
    return cuda && cuda->major() > major;
}

// The compat libraries that are put before the driver's own: those that the cell names, or else those that
// an image of NVIDIA's own PyTorch has on its library path, on hardware that they are made for.
std::optional<Version> compat_version(const Context& context) {
    if (context.cell.has(Field::cuda_compat)) return Version::parse(context.cell.text(Field::cuda_compat));
    if (!image_torch(context) || !accepts_compat(context)) return std::nullopt;
    const auto compat = compat_in_image(context);
    return compat ? Version::parse(compat->cuda) : std::nullopt;
}

void judge_triton_runs_on_driver(Ask& ask) {
    const auto triton = cell_triton(ask);
    const auto gpu = if_known(device(ask));
    const auto driver = if_known(host_driver(ask));
    // Other rules report unknown words; an integrated GPU's driver follows no branch.
    if (!triton || !gpu || !driver || integrated_gpu(ask)) return;
    ask.question({Field::driver, triton->field, gpu->field},
                 fmt::format("whether the driver loads kernels of {}", triton->text));
    if (!triton->row) {
        ask.unknown(triton->field, "no fact knows the ptxas of {}", triton->text);
        return;
    }
    const auto ptxas = ptxas_for(*triton->row, *gpu);
    const auto native = native_cuda(ask.facts, *driver);
    if (!ptxas || !native.at_most) return;
    auto major = native.at_most->major();
    if (const auto compat = compat_version(ask)) major = std::max(major, compat->major());
    auto facts = triton->facts;
    facts.push_back(driver->branch->ref());
    if (ptxas->major() <= major) return ask.accept(std::move(facts));
    if (torch_is_too_new(ask, major)) return;
    auto answer =
        ask.reject(
               "{} assembles for {} with the ptxas of CUDA {}: {} (CUDA {}) does not load kernels of CUDA {} "
               "(TRITON_PTXAS_PATH may name an older one)",
               triton->text, gpu->text, ptxas->major_minor(), host_driver_text(ask, *driver),
               native.at_most->text(), ptxas->major())
            .because(facts)
            .because(ask.facts.row("policy-minor-version-compatibility"))
            .other(Field::driver);
    if (triton->field == Field::packages) answer.other_release(named_triton(ask)->package);
}

}  // namespace

Rule triton_runs_on_driver() {
    return {.id = "triton-runs-on-driver",
            .stage = Stage::torch_compile,
            .summary = "The driver loads what triton's own assembler makes.",
            .why =
                "The triton wheel brings a ptxas of one CUDA release, newer ones a second for Blackwell. "
                "What it makes is machine code of that CUDA's major, and a driver of an older major refuses "
                "it: \"device kernel image is invalid\". Only torch.compile and kernels in triton are lost: "
                "the cell is degraded unless `stages` asks for torch_compile.",
            .fails = "driver: 470.57.02, gpu: A100, packages: {triton: 2.2.0}",
            .passes = "driver: 535.104.05, gpu: A100, packages: {triton: 2.2.0}",
            .reads = {Field::driver, Field::gpu, Field::compute, Field::torch, Field::arch, Field::packages,
                      Field::os, Field::platform, Field::host_class, Field::cuda_compat, Field::python,
                      Field::image, Field::family, Field::cuda},
            .needs = {{Field::driver}, {Field::gpu, Field::compute}, {Field::torch, Field::packages}},
            .judge = judge_triton_runs_on_driver};
}

}  // namespace cudamatrix::rules
