// Does that flavour of the Linux kernel module drive the GPU, whatever the branch of the driver? The open one
// needs the GPU system processor that came with Turing; new GPUs are left out of the proprietary one.
#include "base/text.hpp"
#include "rules/all_rules.hpp"
#include "rules/host_driver.hpp"
#include "rules/kernel_modules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::driver_load;

void refused(const Device& device, std::string message, std::string_view other, std::vector<FactRef> facts,
             Findings& out) {
    auto error = finding(Severity::error, kStage, "", {Field::kernel_module, device.field},
                         std::move(message), std::move(facts));
    error.fixes.push_back(set_to(Field::kernel_module, other));
    out.push_back(std::move(error));
}

void judge(const Context& context, Findings& out) {
    if (windows_driver(context)) return;  // the choice of kernel modules is one of Linux
    const auto given = context.cell.text(Field::kernel_module);
    const auto resolved = device(context);
    if (const auto* gap = std::get_if<Unresolved>(&resolved)) {
        out.push_back(unknown(kStage, "", {gap->field, Field::kernel_module}, *gap,
                              fmt::format("whether the {} kernel module runs it", given)));
        return;
    }
    const auto& known = std::get<Device>(resolved);
    const auto open = open_kernel_module(known);
    const std::vector<Field> about{Field::kernel_module, known.field};
    const auto question = fmt::format("whether the {} kernel module runs {}", given, known.text);
    auto facts = known.facts;
    facts.push_back(known.architecture.ref());
    if (open.empty()) {
        if (known.architecture.text("integrated") == "true") return;  // L4T brings its modules, no choice
        const Unresolved gap{
            known.field, fmt::format("no fact says which kernel modules run {}", known.text), {}};
        out.push_back(unknown(kStage, "", about, gap, question));
        return;
    }
    cite(facts, context.facts, "policy-open-kernel-module");
    if (open == "required" && given == "proprietary") {
        refused(known,
                fmt::format("the proprietary kernel module does not run {}: it needs the open kernel modules",
                            known.text),
                "open", std::move(facts), out);
    } else if (open == "unsupported" && given == "open") {
        refused(known,
                fmt::format("the open kernel modules do not run {}: they start with Turing", known.text),
                "proprietary", std::move(facts), out);
    } else {
        accept(context, out, kStage, "", about, question, std::move(facts));
    }
}

}  // namespace

Rule kernel_module_supports_gpu() {
    return {
        .id = "kernel-module-supports-gpu",
        .stage = kStage,
        .summary = "The flavour of the Linux kernel module, open or proprietary, runs the GPU.",
        .why =
            "The open kernel modules need the GPU system processor, which came with Turing: on older GPUs "
            "they bind no device. Blackwell and Grace Hopper are served by them alone. Either way the "
            "module loads, nvidia-smi says \"No devices were found\", and no CUDA call works.",
        .fails = "gpu: Tesla P4, kernel_module: open",
        .passes = "gpu: RTX 5090, kernel_module: open",
        .reads = {Field::gpu, Field::compute, Field::kernel_module, Field::os, Field::platform},
        .needs = {{Field::kernel_module}, {Field::gpu, Field::compute}},
        .judge = judge};
}

}  // namespace cudamatrix::rules
