// Does that flavour of the Linux kernel module drive the GPU? The open one needs the GPU system processor
// that came with Turing, and a driver that has it at all; new GPUs are left out of the proprietary one.
#include "knowledge/resolve/host.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// A class that the cell or its GPU has; nothing where only a capability is given, and a gap for a GPU that no
// fact knows.
Resolved<std::string_view> host_class(const Context& context) {
    if (context.cell.has(Field::host_class)) return context.cell.text(Field::host_class);
    const auto name = context.cell.text(Field::gpu);
    const auto row = name.empty() ? std::nullopt : lookup::gpu(context.facts, name);
    if (row) return row->text("class");
    if (name.empty()) return std::string_view();
    return Unresolved{Field::gpu, fmt::format("no fact knows gpu {}", name), {}};
}

// What an open module is that early: there was none, or it started the GPUs of data centres only. True where
// something was said.
bool judge_open(Ask& ask, const Device& device, bool has_other, const std::vector<FactRef>& facts) {
    // Of an integrated GPU the driver's number means something else.
    if (!ask.cell.has(Field::driver) || device.architecture.text("integrated") == "true") return false;
    const auto driver = lookup::driver(ask.facts, ask.cell.text(Field::driver));
    const auto first = ask.facts.row("policy-open-module-first");
    const auto all = ask.facts.row("policy-open-module-all-gpus");
    if (!driver || !first || !all || driver->exact >= lookup::required_version(*all, "since")) return false;
    const bool none = driver->exact < lookup::required_version(*first, "since");
    const auto& policy = none ? *first : *all;
    const auto since = policy.text("since");
    auto text = fmt::format("{} has no open kernel modules: they start with {}", driver_text(*driver), since);
    Ask other = ask;
    other.question({Field::driver, Field::kernel_module}, {});
    if (!none) {
        other.question({Field::driver, Field::kernel_module, device.field},
                       fmt::format("whether the open kernel modules of {} run it without {}",
                                   driver_text(*driver), policy.text("setting")));
        const auto kind = other.known(host_class(ask));
        if (!kind) return true;
        if (kind->empty() || *kind == "datacenter") return false;
        text = fmt::format(
            "the open kernel modules of {} run {}, of class {}, only with the module parameter {}; "
            "from {} on they need none",
            driver_text(*driver), device.text, *kind, policy.text("setting"), since);
    }
    auto answer = other.reject("{}", text);
    answer.because(facts).because(policy.ref());
    if (has_other) answer.fix(Field::kernel_module, "proprietary");
    answer.at_least(Field::driver, since);
    return true;
}

// A driver that comes without the proprietary module. True where something was said.
bool judge_proprietary(Ask& ask, bool has_open, const std::vector<FactRef>& facts) {
    if (!ask.cell.has(Field::driver)) return false;
    const auto driver = lookup::driver(ask.facts, ask.cell.text(Field::driver));
    if (!driver || !driver->branch || driver->branch->text("kernel_modules") != "open") return false;
    Ask other = ask;
    other.question({Field::kernel_module, Field::driver}, {});
    auto answer = other.reject("{} has open kernel modules only", driver_text(*driver));
    answer.because(facts).because(driver->branch->ref());
    if (has_open) answer.fix(Field::kernel_module, "open");
    answer.other(Field::driver);
    return true;
}

void judge_kernel_module_supports_gpu(Ask& ask) {
    if (windows_driver(ask)) return;  // the choice of kernel modules is one of Linux
    const auto given = ask.cell.text(Field::kernel_module);
    const auto resolved = device(ask);
    if (const auto* gap = std::get_if<Unresolved>(&resolved)) {
        ask.question({gap->field, Field::kernel_module},
                     fmt::format("whether the {} kernel module runs it", given));
        ask.unknown(*gap);
        return;
    }
    const auto& gpu = std::get<Device>(resolved);
    const auto open = open_kernel_module(gpu);
    ask.question({Field::kernel_module, gpu.field},
                 fmt::format("whether the {} kernel module runs {}", given, gpu.text));
    if (open.empty()) {
        if (gpu.architecture.text("integrated") == "true") return;  // L4T brings its modules, no choice
        ask.unknown(gpu.field, "no fact says which kernel modules run {}", gpu.text);
        return;
    }
    auto facts = gpu.facts;
    facts.push_back(gpu.architecture.ref());
    cite(facts, ask.facts, "policy-open-kernel-module");
    if (open == "required" && given == "proprietary") {
        ask.reject("the proprietary kernel module does not run {}: it needs the open kernel modules",
                   gpu.text)
            .because(facts)
            .fix(Field::kernel_module, "open");
        return;
    }
    if (open == "unsupported" && given == "open") {
        const auto first = first_with_open_modules(ask.facts);
        ask.reject("the open kernel modules do not run {}{}", gpu.text,
                   first ? fmt::format(": they start with {}", first->text("name")) : "")
            .because(facts)
            .because(first)
            .fix(Field::kernel_module, "proprietary");
        return;
    }
    const bool said = given == "open" ? judge_open(ask, gpu, open != "required", facts)
                                      : judge_proprietary(ask, open != "unsupported", facts);
    if (!said) ask.accept(std::move(facts));
}

}  // namespace

Rule kernel_module_supports_gpu() {
    return {
        .id = "kernel-module-supports-gpu",
        .stage = Stage::driver_load,
        .summary = "The flavour of the Linux kernel module, open or proprietary, runs the GPU.",
        .why =
            "The open kernel modules need the GPU system processor, which came with Turing: on older GPUs "
            "they bind no device. Blackwell and Grace Hopper are served by them alone. Either way the "
            "module loads, nvidia-smi says \"No devices were found\", and no CUDA call works. Their first "
            "branches start GPUs of data centres only, unless a module parameter asks for the others; the "
            "newest "
            "branches have no other modules.",
        .fails = "gpu: Tesla P4, kernel_module: open",
        .passes = "gpu: RTX 5090, kernel_module: open",
        .reads = {Field::gpu, Field::compute, Field::kernel_module, Field::os, Field::platform, Field::driver,
                  Field::host_class},
        .needs = {{Field::kernel_module}, {Field::gpu, Field::compute}},
        .judge = judge_kernel_module_supports_gpu};
}

}  // namespace cudamatrix::rules
