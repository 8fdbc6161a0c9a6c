// Where a cell gives both, compute decides; disagreement with a GPU that is known is worth a warning. A host
// that does not exist is refused.
#include "base/text.hpp"
#include "knowledge/resolve/subject.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

// A GPU that is one with its processor has no other host.
void judge_arch(const Context& context, const Row& gpu, Findings& out) {
    const auto written = context.cell.text(Field::arch), real = gpu.text("host_arch");
    if (written.empty() || real.empty() || written == real) return;
    auto error = finding(Severity::error, Stage::container_start, "arch", {Field::arch, Field::gpu},
                         fmt::format("{} is in hosts of {} only: nothing that is built for {} runs there",
                                     context.cell.text(Field::gpu), real, written),
                         {gpu.ref()});
    error.fixes.push_back(set_to(Field::arch, real));
    out.push_back(std::move(error));
}

void judge(const Context& context, Findings& out) {
    const auto gpu = lookup::gpu(context.facts, context.cell.text(Field::gpu));
    if (gpu) judge_arch(context, *gpu, out);
    const auto arch = fatbin::parse_arch(context.cell.text(Field::compute));
    if (!gpu || !arch) return;  // the rules that need the GPU's class or memory say that it is unknown
    const auto compute = fmt::format("{}.{}", arch->major, arch->minor);
    const std::vector<Field> about{Field::compute, Field::gpu};
    if (gpu->text("compute") == compute) {
        return passed(context, [&] {
            return Acceptance{
                {},
                Stage::runtime,
                about,
                fmt::format("whether {} has compute {}", context.cell.text(Field::gpu), compute),
                {gpu->ref()}};
        });
    }
    auto warning = finding(
        Severity::warning, Stage::runtime, "", about,
        fmt::format("compute {} is not that of {}, which is {}: everything else is judged by compute {}",
                    context.cell.text(Field::compute), context.cell.text(Field::gpu), gpu->text("compute"),
                    context.cell.text(Field::compute)),
        {gpu->ref()});
    warning.fixes.push_back(set_to(Field::compute, gpu->text("compute")));
    out.push_back(std::move(warning));
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
        .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
