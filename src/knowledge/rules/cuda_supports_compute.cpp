// Can the toolkit's nvcc make code for the GPU? SASS for the capability itself, or for a lower minor of the
// same major (a named limit). PTX alone moves the compilation, and its faults, to the user's machine: it is
// an answer, with that limit, where the cell asks for PTX or compiles nothing.
#include "fatbin/cover.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// The highest plain target of which the device runs the SASS, or the driver compiles the PTX.
std::optional<std::string> highest_target(const Row& toolkit, const fatbin::Arch& device,
                                          bool (*serves)(const fatbin::Arch&, const fatbin::Arch&)) {
    std::optional<fatbin::Arch> best;
    if (device.variant != fatbin::Variant::base) return std::nullopt;  // a and f mean exactly that target
    for (const auto target : toolkit.list("targets")) {
        const auto arch = fatbin::parse_arch(target);
        if (arch->variant != fatbin::Variant::base || !serves(*arch, device)) continue;
        if (!best || *best < *arch) best = arch;
    }
    if (!best) return std::nullopt;
    return fatbin::to_text(*best);
}

// Why there is no target, in the words that a user can act on.
std::string reason(const Row& toolkit, const fatbin::Arch& device) {
    const auto [lowest, highest] = target_range(toolkit);
    if (!lowest) return "it names no targets";
    if (device < *lowest) return fmt::format("its lowest target is {}", fatbin::to_text(*lowest));
    if (*highest < device) return fmt::format("its highest target is {}", fatbin::to_text(*highest));
    return fmt::format("its targets are {}", listed(toolkit.list("targets")));
}

// Nothing of the user's is compiled in the image: it has no compiler, and nothing in the cell asks for one.
bool only_runs(const Context& context) {
    return says_it_does_not_build(context) && !context.cell.has(Field::compiler) &&
           !context.cell.has(Field::uses) && !arch_list(context);
}

// What reaches a GPU that nvcc has no target for, where the cell is content with PTX: in words, with the
// highest target or the entry of a list whose PTX it is.
std::optional<std::string> by_ptx(const Context& context, const Row& toolkit, const fatbin::Arch& device) {
    const auto ptx = highest_target(toolkit, device, fatbin::ptx_compiles_for);
    if (!ptx) return std::nullopt;
    if (const auto list = arch_list(context)) {
        const auto names = torch_names(context);
        auto entries = arch_entries(list->text, names ? names->list("named") : facts::Values());
        std::erase_if(entries, [&](const ArchEntry& entry) {
            return !entry.arch || !contains(toolkit.list("targets"), fatbin::to_text(*entry.arch));
        });
        const auto entry = cover(entries, device).ptx;
        if (!entry.empty()) return fmt::format("what {} of {} makes runs there", entry, list->named());
    }
    if (is_ptx_only(context)) return fmt::format("code that is PTX only, of {} at most, runs there", *ptx);
    if (!only_runs(context)) return std::nullopt;
    return fmt::format("a {} image compiles nothing, and what that nvcc made runs there as PTX of {} at most",
                       context.cell.text(Field::flavour), *ptx);
}

void judge_target(Ask& ask, const lookup::Cuda& cuda, const Device& device) {
    const auto target = fatbin::to_text(device.arch);
    const auto& toolkit = *cuda.toolkit;
    auto facts = device.facts;
    facts.push_back(toolkit.ref());
    if (contains(toolkit.list("targets"), target)) return ask.accept(std::move(facts));
    if (const auto near = highest_target(toolkit, device.arch, fatbin::sass_runs_on)) {
        ask.degrade("nvcc of CUDA {} has no target for {}: code for {} runs there, without what is new in {}",
                    cuda.exact.text(), device.text, *near, target)
            .because(facts)
            .because(ask.facts.row("policy-sass-same-major"))
            .other(Field::cuda);
        return;
    }
    facts.push_back(device.architecture.ref());
    if (const auto code_path = by_ptx(ask, toolkit, device.arch)) {
        ask.degrade(
               "nvcc of CUDA {} has no target for {}: {}, compiled by the driver when it is first loaded",
               cuda.exact.text(), device.text, *code_path)
            .because(facts)
            .because(ask.facts.row("policy-ptx-jit-forward"))
            .other(Field::cuda);
        return;
    }
    // Nobody may miss that nvcc, but an image that nothing can prove is no offer.
    const auto unproved =
        only_runs(ask)
            ? fmt::format("; a {} image compiles nothing, but the suite that proves it could not run either",
                          ask.cell.text(Field::flavour))
            : "";
    ask.reject("nvcc of CUDA {} cannot compile for {}: {}{}", cuda.exact.text(), device.text,
               reason(toolkit, device.arch), unproved)
        .because(facts)
        .other(Field::cuda);
}

void judge_cuda_supports_compute(Ask& ask) {
    ask.question({Field::cuda}, "whether its nvcc compiles for the GPU");
    const auto cuda = ask.cuda();
    if (!cuda) return;
    const auto device = rules::device(ask);
    if (const auto* gap = std::get_if<Unresolved>(&device)) {
        ask.question({gap->field, Field::cuda},
                     fmt::format("whether CUDA {} compiles for it", ask.cell.text(Field::cuda)));
        ask.unknown(*gap);
        return;
    }
    const auto& gpu = std::get<Device>(device);
    ask.question({Field::cuda, gpu.field},
                 fmt::format("whether CUDA {} compiles for {}", cuda->exact.text(), gpu.text));
    if (cuda->toolkit) return judge_target(ask, *cuda, gpu);
    ask.unknown(Field::cuda, "no fact lists the targets of CUDA {}", cuda->exact.text());
}

}  // namespace

Rule cuda_supports_compute() {
    return {
        .id = "cuda-supports-compute",
        .stage = Stage::build,
        .summary = "The toolkit's nvcc can make machine code that the GPU runs.",
        .why =
            "Each nvcc knows a fixed list of targets: newer GPUs than the toolkit are unknown to it, and "
            "old ones are removed with every major. What it cannot name it cannot compile for; PTX of a "
            "lower "
            "target reaches newer GPUs all the same, compiled by the driver.",
        .fails = "cuda: 13.0.2, compute: \"7.0\"",
        .passes = "cuda: 12.9.1, compute: \"7.0\"",
        .reads = {Field::cuda, Field::gpu, Field::compute, Field::flavour, Field::compiler, Field::uses,
                  Field::arch_list, Field::env, Field::torch, Field::arch},
        .needs = {{Field::cuda}, {Field::gpu, Field::compute}},
        .judge = judge_cuda_supports_compute,
        .proof = {Attempt::compile_target, {"nvcc fatal*Unsupported gpu architecture 'compute_{target}'*"}}};
}

}  // namespace cudamatrix::rules
