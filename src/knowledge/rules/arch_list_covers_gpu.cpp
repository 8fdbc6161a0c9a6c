// An extension built with a list that leaves the GPU out fails at its first kernel.
#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/gpu_code.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::runtime;

void judge(const Context& context, Findings& out) {
    const auto given = arch_list(context);
    if (!given) return;  // env without the variable
    const auto& list = given->text;
    const auto name = given->named();
    const auto resolved = device(context);
    const auto* gpu = std::get_if<Device>(&resolved);
    const std::vector<Field> about{given->field, gpu != nullptr ? gpu->field : Field::gpu};
    const auto question = fmt::format("whether code built with {} runs on the GPU", name);
    if (gpu == nullptr) {
        out.push_back(unknown(kStage, "", about, std::get<Unresolved>(resolved), question));
        return;
    }
    auto facts = gpu->facts;
    std::optional<Row> row;
    if (has_names(list)) {
        // What a name stands for is torch's to say.
        row = torch_names(context);
        if (!row) {
            const Unresolved gap{
                given->field, fmt::format("names in {} mean what a known release of torch says", name), {}};
            out.push_back(unknown(kStage, "", about, gap, question));
            return;
        }
        facts.push_back(row->ref());
    }
    const auto arch = device_arch(gpu->arch);
    const auto found = cover(row ? arch_entries(list, row->list("named")) : arch_entries(list, {}), arch);
    cite(facts, context.facts, "policy-sass-same-major");
    if (found.sass) return accept(context, out, kStage, "", about, question, std::move(facts));
    cite(facts, context.facts, "policy-ptx-jit-forward");
    auto answer =
        found.ptx.empty()
            ? finding(Severity::error, kStage, "", about,
                      fmt::format("code built with {} has nothing for {}", name, gpu->text), std::move(facts))
            : finding(Severity::warning, kStage, "", about,
                      fmt::format("code built with {} runs on {} by the PTX of {} only: the driver "
                                  "compiles it at the first start",
                                  name, gpu->text, found.ptx),
                      std::move(facts));
    answer.fixes.push_back(with_gpu_in_list(context, *given, *gpu));
    out.push_back(std::move(answer));
}

}  // namespace

Rule arch_list_covers_gpu() {
    return {.id = "arch-list-covers-gpu",
            .stage = kStage,
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
            .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
