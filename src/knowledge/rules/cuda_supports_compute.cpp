// Can the toolkit's nvcc make code for the GPU? SASS for the capability itself, or for a lower minor of the
// same major (a named limit). PTX alone moves the compilation, and its faults, to the user's machine: it is
// an answer, with that limit, where the cell asks for PTX or compiles nothing.
#include "base/text.hpp"
#include "fatbin/cover.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/gpu_code.hpp"
#include "knowledge/resolve/subject.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::build;

// The highest target whose SASS runs on the device although it is not the device's own.
std::optional<std::string> neighbour(const Row& toolkit, const fatbin::Arch& device) {
    std::optional<fatbin::Arch> best;
    if (device.variant != fatbin::Variant::base) return std::nullopt;  // a and f mean exactly that target
    for (const auto target : toolkit.list("targets")) {
        const auto arch = fatbin::parse_arch(target);
        if (arch->variant != fatbin::Variant::base || !fatbin::sass_runs_on(*arch, device)) continue;
        if (!best || *best < *arch) best = arch;
    }
    if (!best) return std::nullopt;
    return fatbin::to_text(*best);
}

// The nearest toolkits, newer and older, whose nvcc has the target itself.
std::vector<FixOption> toolkits_with(const Context& context, const std::string& target, const Version& cuda) {
    std::optional<FixOption> newer, older;
    if (!context.wants_fixes) return {};
    for (const auto& release : context.facts.rows("cuda_releases")) {
        const auto version = lookup::required_version(release, "cuda");
        const auto toolkit = context.facts.row(fmt::format("cuda-toolkit-{}", release.text("minor")));
        if (!contains(toolkit->list("targets"), target)) continue;
        if (version < cuda) older = set_to(Field::cuda, version.text());
        if (version > cuda && !newer) newer = set_to(Field::cuda, version.text());
    }
    std::vector<FixOption> options;
    if (newer) options.push_back(*newer);
    if (older) options.push_back(*older);
    return options;
}

// Why there is no target, in the words that a user can act on.
std::string reason(const Row& toolkit, const fatbin::Arch& device) {
    const auto [lowest, highest] = target_range(toolkit);
    if (!lowest) return "it names no targets";
    if (device < *lowest) return fmt::format("its lowest target is {}", fatbin::to_text(*lowest));
    if (*highest < device) return fmt::format("its highest target is {}", fatbin::to_text(*highest));
    return fmt::format("its targets are {}", listed(toolkit.list("targets")));
}

// The highest target whose PTX the driver compiles for the device.
std::optional<std::string> ptx_below(const Row& toolkit, const fatbin::Arch& device) {
    std::optional<fatbin::Arch> best;
    for (const auto target : toolkit.list("targets")) {
        const auto arch = fatbin::parse_arch(target);
        if (arch->variant != fatbin::Variant::base || !fatbin::ptx_compiles_for(*arch, device)) continue;
        if (!best || *best < *arch) best = arch;
    }
    if (!best) return std::nullopt;
    return fatbin::to_text(*best);
}

// Nothing of the user's is compiled in the image: it has no compiler, and nothing in the cell asks for one.
bool only_runs(const Context& context) {
    return says_it_does_not_build(context) && !context.cell.has(Field::compiler) &&
           !context.cell.has(Field::uses) && !arch_list(context);
}

// What of a toolkit reaches a GPU that its nvcc has no target for, where the cell is content with PTX: in
// words, with the highest target or the entry of a list whose PTX it is.
std::optional<std::string> by_ptx(const Context& context, const Row& toolkit, const fatbin::Arch& device) {
    if (device.variant != fatbin::Variant::base) return std::nullopt;  // a and f mean exactly that target
    const auto ptx = ptx_below(toolkit, device);
    if (!ptx) return std::nullopt;
    if (const auto list = arch_list(context)) {
        const auto names = torch_names(context);
        auto entries =
            arch_entries(list->text, names ? names->list("named") : std::span<const std::string_view>());
        std::erase_if(entries, [&](const ArchEntry& entry) {
            return !entry.arch || !contains(toolkit.list("targets"), fatbin::to_text(*entry.arch));
        });
        const auto entry = cover(entries, device).ptx;
        if (!entry.empty()) return fmt::format("what {} of {} makes runs there", entry, list->named());
    }
    if (is_ptx_only(context)) return fmt::format("code that is PTX only, of {} at most, runs there", *ptx);
    if (only_runs(context)) {
        return fmt::format(
            "a {} image compiles nothing, and what that nvcc made runs there as PTX of {} at most",
            context.cell.text(Field::flavour), *ptx);
    }
    return std::nullopt;
}

void judge_target(const Context& context, const lookup::Cuda& cuda, const Device& device, Findings& out) {
    const auto target = fatbin::to_text(device.arch);
    const std::vector<Field> about{Field::cuda, device.field};
    const auto question = fmt::format("whether CUDA {} compiles for {}", cuda.exact.text(), device.text);
    if (!cuda.toolkit) {
        const Unresolved gap{
            Field::cuda, fmt::format("no fact lists the targets of CUDA {}", cuda.exact.text()), {}};
        out.push_back(unknown(kStage, "", about, gap, question));
        return;
    }
    auto facts = device.facts;
    facts.push_back(cuda.toolkit->ref());
    if (contains(cuda.toolkit->list("targets"), target)) {
        accept(context, out, kStage, "", about, question, std::move(facts));
        return;
    }
    if (const auto near = neighbour(*cuda.toolkit, device.arch)) {
        cite(facts, context.facts, "policy-sass-same-major");
        auto warning = finding(
            Severity::warning, kStage, "", about,
            fmt::format("nvcc of CUDA {} has no target for {}: code for {} runs there, without what is "
                        "new in {}",
                        cuda.exact.text(), device.text, *near, target),
            std::move(facts));
        warning.fixes = toolkits_with(context, target, cuda.exact);
        out.push_back(std::move(warning));
        return;
    }
    facts.push_back(device.architecture.ref());
    if (const auto road = by_ptx(context, *cuda.toolkit, device.arch)) {
        cite(facts, context.facts, "policy-ptx-jit-forward");
        auto warning = finding(Severity::warning, kStage, "", about,
                               fmt::format("nvcc of CUDA {} has no target for {}: {}, compiled by the driver "
                                           "when it is first loaded",
                                           cuda.exact.text(), device.text, *road),
                               std::move(facts));
        warning.fixes = toolkits_with(context, target, cuda.exact);
        out.push_back(std::move(warning));
        return;
    }
    auto message = fmt::format("nvcc of CUDA {} cannot compile for {}: {}", cuda.exact.text(), device.text,
                               reason(*cuda.toolkit, device.arch));
    // Nobody may miss that nvcc, but an image that nothing can prove is no offer.
    if (only_runs(context)) {
        message +=
            fmt::format("; a {} image compiles nothing, but the suite that proves it could not run either",
                        context.cell.text(Field::flavour));
    }
    auto error = finding(Severity::error, kStage, "", about, std::move(message), std::move(facts));
    error.fixes = toolkits_with(context, target, cuda.exact);
    out.push_back(std::move(error));
}

void judge(const Context& context, Findings& out) {
    const auto gpu = device(context);
    const auto toolkit = image_cuda(context);
    if (const auto* gap = std::get_if<Unresolved>(&toolkit)) {
        out.push_back(unknown(kStage, "", {Field::cuda}, *gap, "whether its nvcc compiles for the GPU"));
        return;
    }
    if (const auto* gap = std::get_if<Unresolved>(&gpu)) {
        out.push_back(
            unknown(kStage, "", {gap->field, Field::cuda}, *gap,
                    fmt::format("whether CUDA {} compiles for it", context.cell.text(Field::cuda))));
        return;
    }
    judge_target(context, std::get<lookup::Cuda>(toolkit), std::get<Device>(gpu), out);
}

}  // namespace

Rule cuda_supports_compute() {
    return {
        .id = "cuda-supports-compute",
        .stage = kStage,
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
        .judge = plain(judge),
        .proof = {Attempt::compile_target, {"nvcc fatal*Unsupported gpu architecture 'compute_{target}'*"}}};
}

}  // namespace cudamatrix::rules
