// An extension built with a list that leaves the GPU out fails at its first kernel.
#include "base/text.hpp"
#include "fatbin/cover.hpp"
#include "rules/all_rules.hpp"
#include "rules/building.hpp"
#include "rules/gpu_code.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::runtime;

// The list with the GPU's own capability at its end.
std::string with_gpu(std::string_view list, const Device& gpu) {
    return fmt::format("{};{}", text::replace_all(list, " ", ";"), gpu.compute);
}

struct Cover {
    bool sass = false;
    std::string ptx;  ///< the entry whose PTX the driver can compile
};

Cover cover(const std::vector<ArchEntry>& entries, const fatbin::Arch& device) {
    Cover out;
    for (const auto& entry : entries) {
        if (!entry.arch) continue;
        out.sass = out.sass || fatbin::sass_runs_on(*entry.arch, device);
        if (entry.ptx && fatbin::ptx_compiles_for(*entry.arch, device)) out.ptx = entry.text;
    }
    return out;
}

void judge(const Context& context, Findings& out) {
    const auto list = context.cell.text(Field::arch_list);
    const auto resolved = device(context);
    const auto* gpu = std::get_if<Device>(&resolved);
    const std::vector<Field> about{Field::arch_list, gpu != nullptr ? gpu->field : Field::gpu};
    const auto question = fmt::format("whether code built with arch_list {} runs on the GPU", list);
    if (gpu == nullptr) {
        out.push_back(unknown(kStage, "", about, std::get<Unresolved>(resolved), question));
        return;
    }
    auto facts = gpu->facts;
    std::optional<Row> row;
    if (has_names(list)) {
        // What a name stands for is torch's to say.
        const auto torch = wants_torch(context) ? torch_build(context) : Resolved<TorchBuild>(Unresolved{});
        if (const auto* build = std::get_if<TorchBuild>(&torch))
            row = extension_row(context.facts, build->torch.release->text("torch"));
        if (!row) {
            const Unresolved gap{
                Field::arch_list,
                fmt::format("names in arch_list {} mean what a known release of torch says", list),
                {}};
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
                      fmt::format("code built with arch_list {} has nothing for {}", list, gpu->text),
                      std::move(facts))
            : finding(Severity::warning, kStage, "", about,
                      fmt::format("code built with arch_list {} runs on {} by the PTX of {} only: the driver "
                                  "compiles it at the first start",
                                  list, gpu->text, found.ptx),
                      std::move(facts));
    answer.fixes.push_back(set_to(Field::arch_list, with_gpu(list, *gpu)));
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
            .reads = {Field::arch_list, Field::torch, Field::arch, Field::gpu, Field::compute},
            .needs = {{Field::arch_list}, {Field::gpu, Field::compute}},
            .judge = judge};
}

}  // namespace cudamatrix::rules
