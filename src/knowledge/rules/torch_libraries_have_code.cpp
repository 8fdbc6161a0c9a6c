// Do all libraries of the wheel hold code for the GPU, or only the one that its architecture list is about?
#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// The libraries of a wheel that were opened; none for most wheels.
std::vector<Row> libraries_of(const Facts& facts, std::string_view torch, std::string_view variant,
                              std::string_view arch) {
    std::vector<Row> out;
    for (const auto& row : facts.rows("torch_libraries")) {
        if (row.text("torch") == torch && row.text("variant") == variant && row.text("arch") == arch)
            out.push_back(row);
    }
    return out;
}

bool all_run_on(const std::vector<Row>& libraries, const fatbin::Arch& device) {
    return std::all_of(libraries.begin(), libraries.end(),
                       [&](const Row& library) { return has_code(library, "sass", device); });
}

void judge_library(Ask& ask, const TorchBuild& build, const Device& gpu, const Row& library) {
    const auto arch = device_arch(gpu.arch);
    if (has_code(library, "sass", arch)) return;
    const auto name = library.text("library");
    const auto ptx = library.list("ptx");
    ask.question({Field::torch, gpu.field}, {}, name);
    ask.degrade(
           "{} of {} has no code for {}, which the wheel promises: its SASS is for {}, {}; {} fail there",
           name, build.text, gpu.text, listed(library.list("sass")),
           ptx.empty() ? "and it has no PTX" : "its PTX for " + listed(ptx), library.text("purpose"))
        .because(gpu.facts)
        .because(library.ref())
        .because(ask.facts.row("policy-sass-same-major"))
        .accepted_other(Field::torch);
}

void judge_torch_libraries_have_code(Ask& ask) {
    if (!wants_wheel(ask)) return;
    const auto build = if_known(torch_build(ask));
    const auto gpu = if_known(device(ask));
    if (!build || !gpu) return;  // torch-ships-compute says what is not known
    const auto libraries =
        libraries_of(ask.facts, build->torch.exact.text(), build->torch.variant, build->arch);
    const auto arch = device_arch(gpu->arch);
    // torch-ships-compute reports a wheel that promises no code for the GPU.
    if (libraries.empty() || !build->torch.wheel || !has_code(*build->torch.wheel, "compute", arch)) return;
    if (!all_run_on(libraries, arch)) {
        for (const auto& library : libraries)
            judge_library(ask, *build, *gpu, library);
        return;
    }
    auto facts = gpu->facts;
    for (const auto& library : libraries)
        facts.push_back(library.ref());
    ask.question({Field::torch, gpu->field},
                 fmt::format("whether each library of {} has code for {}", build->text, gpu->text));
    ask.accept(std::move(facts));
}

}  // namespace

Rule torch_libraries_have_code() {
    return {
        .id = "torch-libraries-have-code",
        .stage = Stage::runtime,
        .summary = "Every library of the torch wheel holds code for a GPU that the wheel promises.",
        .why =
            "The architecture list of a wheel speaks of its main library. Others are built from lists of "
            "their own: where one holds neither machine code nor PTX for the GPU, torch starts and most of "
            "it works, and the first function of that library fails with no kernel image is available.",
        .fails = "torch: 2.13.0, compute: \"7.5\"",
        .passes = "torch: 2.15.0, compute: \"7.5\"",
        .reads = {Field::torch, Field::gpu, Field::compute, Field::arch, Field::family, Field::image},
        .needs = {{Field::torch}, {Field::gpu, Field::compute}},
        .judge = judge_torch_libraries_have_code};
}

}  // namespace cudamatrix::rules
