// Where a cell gives both, compute decides; disagreement with a GPU that is known is worth a warning. A host
// that does not exist is refused.
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// A GPU that is one with its processor has no other host.
void judge_arch(Ask& ask, const Row& gpu) {
    const auto written = ask.cell.text(Field::arch), real = gpu.text("host_arch");
    if (written.empty() || real.empty() || written == real) return;
    ask.question({Field::arch, Field::gpu}, {}, "arch");
    auto answer = ask.reject("{} is in hosts of {} only: nothing that is built for {} runs there",
                             ask.cell.text(Field::gpu), real, written);
    answer.because(gpu.ref()).fix(Field::arch, real);
    answer.finding().stage = Stage::container_start;
}

void judge_gpu_matches_compute(Ask& ask) {
    const auto name = ask.cell.text(Field::gpu), written = ask.cell.text(Field::compute);
    const auto gpu = lookup::gpu(ask.facts, name);
    if (gpu) judge_arch(ask, *gpu);
    const auto arch = fatbin::parse_arch(written);
    if (!gpu || !arch) return;  // the rules that need the GPU's class or memory say that it is unknown
    const auto compute = fmt::format("{}.{}", arch->major, arch->minor);
    ask.question({Field::compute, Field::gpu}, fmt::format("whether {} has compute {}", name, compute));
    if (gpu->text("compute") == compute) {
        ask.record_pass({gpu->ref()});
        return;
    }
    ask.degrade("compute {} is not that of {}, which is {}: everything else is judged by compute {}", written,
                name, gpu->text("compute"), written)
        .because(gpu->ref())
        .fix(Field::compute, gpu->text("compute"));
}

}  // namespace

Rule gpu_matches_compute() {
    return {
        .id = "gpu-matches-compute",
        .stage = Stage::runtime,
        .summary =
            "The compute capability and the processor that a cell gives are those of the GPU that it names.",
        .why =
            "Where gpu and compute are both given, compute decides; a disagreement usually is a slip "
            "that makes every other verdict answer another question. A GPU that is sold with its "
            "processor only (Grace, GB10, Jetson) has no host of another: images and wheels for that end in "
            "\"exec format error\".",
        .fails = "gpu: RTX 4090, compute: \"8.6\"",
        .passes = "gpu: RTX 4090, compute: \"8.9\"",
        .reads = {Field::gpu, Field::compute, Field::arch},
        .needs = {},  // a cell that gives one of the two is not short of anything
        .judge = judge_gpu_matches_compute};
}

}  // namespace cudamatrix::rules
