// Does that flavour of the Linux kernel module drive the GPU? The open one needs the GPU system processor
// that came with Turing, and a driver that has it at all; new GPUs are left out of the proprietary one.
#include "base/text.hpp"
#include "knowledge/resolve/host_driver.hpp"
#include "knowledge/resolve/kernel_modules.hpp"
#include "knowledge/rules/all_rules.hpp"

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
bool judge_driver(const Context& context, const Device& device, bool has_other, std::vector<FactRef> facts,
                  Findings& out) {
    // Of an integrated GPU the driver's number means something else.
    if (!context.cell.has(Field::driver) || device.architecture.text("integrated") == "true") return false;
    const auto driver = lookup::driver(context.facts, context.cell.text(Field::driver));
    const auto first = context.facts.row("policy-open-module-first");
    const auto all = context.facts.row("policy-open-module-all-gpus");
    if (!driver || !first || !all || driver->exact >= lookup::required_version(*all, "since")) return false;
    const bool none = driver->exact < lookup::required_version(*first, "since");
    const auto& policy = none ? *first : *all;
    std::vector<Field> about{Field::driver, Field::kernel_module};
    std::string message = fmt::format("{} has no open kernel modules: they start with {}",
                                      driver_text(*driver), policy.text("since"));
    if (!none) {
        const auto resolved = host_class(context);
        about.push_back(device.field);
        if (const auto* gap = std::get_if<Unresolved>(&resolved)) {
            out.push_back(unknown(kStage, "", about, *gap,
                                  fmt::format("whether the open kernel modules of {} run it without {}",
                                              driver_text(*driver), policy.text("setting"))));
            return true;
        }
        const auto kind = std::get<std::string_view>(resolved);
        if (kind.empty() || kind == "datacenter") return false;
        message = fmt::format(
            "the open kernel modules of {} run {}, of class {}, only with the module parameter {}; "
            "from {} on they need none",
            driver_text(*driver), device.text, kind, policy.text("setting"), policy.text("since"));
    }
    facts.push_back(policy.ref());
    auto found = finding(none ? Severity::error : Severity::warning, kStage, "", std::move(about),
                         std::move(message), std::move(facts));
    if (has_other) found.fixes.push_back(set_to(Field::kernel_module, "proprietary"));
    found.fixes.push_back(
        set_to(Field::driver, policy.text("since"), fmt::format("driver >= {}", policy.text("since"))));
    out.push_back(std::move(found));
    return true;
}

// A driver that comes without the proprietary module. True where something was said.
bool judge_open_only(const Context& context, bool has_open, std::vector<FactRef> facts, Findings& out) {
    if (!context.cell.has(Field::driver)) return false;
    const auto driver = lookup::driver(context.facts, context.cell.text(Field::driver));
    if (!driver || !driver->branch || driver->branch->text("kernel_modules") != "open") return false;
    facts.push_back(driver->branch->ref());
    auto error =
        finding(Severity::error, kStage, "", {Field::kernel_module, Field::driver},
                fmt::format("{} has open kernel modules only", driver_text(*driver)), std::move(facts));
    if (has_open) error.fixes.push_back(set_to(Field::kernel_module, "open"));
    std::string_view last;
    for (const auto& row : context.facts.rows("driver_branches")) {
        if (row.text("kernel_modules") != "open") last = row.text("branch");  // sorted
    }
    error.fixes.push_back(set_to(Field::driver, last, fmt::format("driver {}", last)));
    out.push_back(std::move(error));
    return true;
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
        return;
    }
    if (open == "unsupported" && given == "open") {
        auto message = fmt::format("the open kernel modules do not run {}", known.text);
        if (const auto first = first_with_open_modules(context.facts)) {
            message += fmt::format(": they start with {}", first->text("name"));
            facts.push_back(first->ref());
        }
        refused(known, std::move(message), "proprietary", std::move(facts), out);
        return;
    }
    const bool said = given == "open" ? judge_driver(context, known, open != "required", facts, out)
                                      : judge_open_only(context, open != "unsupported", facts, out);
    if (!said) accept(context, out, kStage, "", about, question, std::move(facts));
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
            "module loads, nvidia-smi says \"No devices were found\", and no CUDA call works. Their first "
            "branches start GPUs of data centres only, unless a module parameter asks for the others; the "
            "newest "
            "branches have no other modules.",
        .fails = "gpu: Tesla P4, kernel_module: open",
        .passes = "gpu: RTX 5090, kernel_module: open",
        .reads = {Field::gpu, Field::compute, Field::kernel_module, Field::os, Field::platform, Field::driver,
                  Field::host_class},
        .needs = {{Field::kernel_module}, {Field::gpu, Field::compute}},
        .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
