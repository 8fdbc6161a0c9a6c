// A cell may name an image and nothing of what is in it. The tag says it all the same: its CUDA, and for
// pytorch/pytorch its torch. What the cell leaves out is judged here as those rules would that read it from
// fields; what the cell does say is theirs.
#include "rules/all_rules.hpp"
#include "rules/image_content.hpp"

namespace cudamatrix::rules {
namespace {

void judge_content(const Context& context, const ImageContent& image, Findings& out) {
    const auto& cell = context.cell;
    const bool on_gpu = cell.has(Field::gpu) || cell.has(Field::compute);
    const bool says_cuda = cell.has(Field::cuda), says_torch = cell.has(Field::torch);
    if (!image.cuda.empty() && cell.has(Field::driver) && !says_cuda && !says_torch)
        judge_as(context, image, driver_supports_cuda(), Field::cuda, image.cuda, "driver", out);
    if (!image.torch.empty() && on_gpu && !says_torch)
        judge_as(context, image, torch_ships_compute(), Field::torch, image.torch, "gpu", out);
}

void judge(const Context& context, Findings& out) {
    const auto image = image_content(context);
    if (!image) return;
    judge_content(context, *image, out);
    offer_other_tags(context, *image, judge_content, out);
}

}  // namespace

Rule image_content_runs() {
    return {
        .id = "image-content-runs",
        .stage = Stage::runtime,
        .summary =
            "The host runs the CUDA and the torch that the image's tag names, where the cell does not.",
        .why =
            "A tag names the CUDA inside, and for pytorch/pytorch the torch wheel. Nothing stops such an "
            "image from starting on a driver that is too old or a GPU that the wheel has no code for: it "
            "fails at the first call of CUDA, or at the first kernel.",
        .fails = "image: \"pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime\", driver: 470.161.03",
        .passes =
            "image: \"pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime\", driver: 570.124.06, compute: \"12.0\"",
        .reads = {Field::image, Field::driver, Field::cuda, Field::torch, Field::gpu, Field::compute,
                  Field::host_class, Field::arch, Field::os, Field::platform, Field::cuda_compat,
                  Field::family},
        .needs = {{Field::image}, {Field::driver, Field::gpu, Field::compute}},
        .judge = judge};
}

}  // namespace cudamatrix::rules
