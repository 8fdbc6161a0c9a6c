// An extension built with a list that leaves the GPU out fails at its first kernel.
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

void judge_arch_list_covers_gpu(Ask& ask) {
    const auto given = arch_list(ask);
    if (!given) return;  // env without the variable
    const auto name = given->named();
    ask.question({given->field, Field::gpu}, fmt::format("whether code built with {} runs on the GPU", name));
    const auto gpu = ask.device();
    if (!gpu) return;
    ask.question({given->field, gpu->field}, ask.text());
    std::optional<Row> names;  // torch says what a name in the list stands for
    if (has_names(given->text)) {
        names = torch_names(ask);
        if (!names) {
            ask.unknown(given->field, "names in {} mean what a known release of torch says", name);
            return;
        }
    }
    const auto entries = arch_entries(given->text, names ? names->list("named") : facts::Values());
    const auto found = cover(entries, device_arch(gpu->arch));
    auto facts = gpu->facts;
    if (names) facts.push_back(names->ref());
    cite(facts, ask.facts, "policy-sass-same-major");
    if (found.sass) return ask.accept(std::move(facts));
    auto answer = found.ptx.empty() ? ask.reject("code built with {} has nothing for {}", name, gpu->text)
                                    : ask.degrade(
                                          "code built with {} runs on {} by the PTX of {} only: the driver "
                                          "compiles it at the first start",
                                          name, gpu->text, found.ptx);
    answer.because(facts)
        .because(ask.facts.row("policy-ptx-jit-forward"))
        .fix(with_gpu_in_list(ask, *given, *gpu));
}

}  // namespace

Rule arch_list_covers_gpu() {
    return {.id = "arch-list-covers-gpu",
            .stage = Stage::runtime,
            .summary = "An architecture list that somebody set holds code for the GPU of the cell.",
            .why =
                "A TORCH_CUDA_ARCH_LIST replaces what the build would find out by itself, so the "
                "extension has code for its entries and nothing else. On another major, or an older "
                "minor, the first kernel ends in \"no kernel image is available for execution on the "
                "device\", unless an entry ends in +PTX.",
            .fails = "arch_list: \"8.0;8.6\", gpu: H100",
            .passes = "arch_list: \"8.0;9.0\", gpu: H100",
            .reads = {Field::arch_list, Field::env, Field::torch, Field::arch, Field::gpu, Field::compute},
            .needs = {{Field::arch_list, Field::env}, {Field::gpu, Field::compute}},
            .judge = judge_arch_list_covers_gpu};
}

}  // namespace cudamatrix::rules
