// Where a cell gives both, compute decides; disagreement with a GPU that is known is worth a warning.
#include "base/text.hpp"
#include "rules/all_rules.hpp"
#include "rules/passed.hpp"
#include "rules/subject.hpp"

namespace cudamatrix::rules {
namespace {

void judge(const Context& context, Findings& out) {
    const auto gpu = lookup::gpu(context.facts, context.cell.text(Field::gpu));
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
    return {.id = "gpu-matches-compute",
            .stage = Stage::runtime,
            .summary = "The compute capability that a cell gives is that of the GPU that it names.",
            .why =
                "Where gpu and compute are both given, compute decides; a disagreement usually is a slip "
                "that makes every other verdict answer another question.",
            .fails = "gpu: RTX 4090, compute: \"8.6\"",
            .passes = "gpu: RTX 4090, compute: \"8.9\"",
            .reads = {Field::gpu, Field::compute},
            .needs = {},  // a cell that gives one of the two is not short of anything
            .judge = judge};
}

}  // namespace cudamatrix::rules
