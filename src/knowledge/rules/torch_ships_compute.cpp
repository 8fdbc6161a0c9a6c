// Does that wheel hold code for the GPU? SASS of the same major and a lower or equal minor, or PTX that the
// driver compiles. Keyed by torch and the wheel's CUDA: the same release ships different lists in its
// variants.
#include "base/text.hpp"
#include "knowledge/resolve/gpu_code.hpp"
#include "knowledge/resolve/subject.hpp"
#include "knowledge/resolve/torch_options.hpp"
#include "knowledge/resolve/wheel_os.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::runtime;

void offer_builds(const Context& context, const fatbin::Arch& arch, Finding& finding) {
    finding.fixes =
        torch_options(context, [&](const Row& wheel) { return has_sass(wheel.list("compute"), arch); });
}

// The driver compiles PTX of its own CUDA and older only.
void judge_jit(const Context& context, const TorchBuild& build, const Device& device, std::string_view ptx,
               std::vector<FactRef> facts, Findings& out) {
    const auto arch = device_arch(device.arch);
    const auto cuda = Version::parse(build.torch.wheel->text("cuda"));
    // The driver of an integrated GPU follows no branch: what it compiles is open.
    const bool by_branch =
        context.cell.has(Field::driver) && device.architecture.text("integrated") != "true";
    const auto resolved =
        by_branch ? lookup::driver(context.facts, context.cell.text(Field::driver)) : std::nullopt;
    const std::vector<Field> about{Field::torch, device.field};
    if (resolved && resolved->branch && cuda) {
        const auto native = native_cuda(context.facts, *resolved);
        if (native.at_most && *native.at_most < *cuda) {
            facts.push_back(resolved->branch->ref());
            cite(facts, context.facts, "policy-ptx-isa-driver");
            auto error = finding(
                Severity::error, kStage, "", {Field::torch, device.field, Field::driver},
                fmt::format("{} has only PTX {} for {}, and {} (CUDA {}) does not compile PTX of CUDA {}",
                            build.text, ptx, device.text, driver_text(*resolved), native.at_most->text(),
                            cuda->text()),
                std::move(facts));
            offer_builds(context, arch, error);
            out.push_back(std::move(error));
            return;
        }
    }
    cite(facts, context.facts, "policy-ptx-jit-forward");
    auto warning = finding(
        Severity::warning, kStage, "", about,
        fmt::format("{} runs on {} by PTX {} only: the driver compiles it at the first start, if it is of "
                    "CUDA {} or newer",
                    build.text, device.text, ptx, cuda ? cuda->text() : "the wheel"),
        std::move(facts));
    offer_builds(context, arch, warning);
    out.push_back(std::move(warning));
}

// Without a variant the index decides which CUDA it is: said, because nobody wrote it.
std::string named(const Context& context, const TorchBuild& build) {
    const bool bare = context.cell.text(Field::torch).find('+') == std::string_view::npos;
    return bare ? build.text + " (the default build)" : build.text;
}

// The toolkit that built a wheel puts neither SASS nor PTX of lower targets than its own into it, whatever
// else is not known about its code.
std::optional<Finding> below_its_toolkit(const Context& context, const TorchBuild& build,
                                         const Device& device, std::vector<FactRef> facts) {
    const auto cuda = lookup::cuda(context.facts, build.torch.wheel->text("cuda"));
    if (!cuda || !cuda->toolkit) return std::nullopt;
    const auto arch = device_arch(device.arch);
    const auto lowest = target_range(*cuda->toolkit).lowest;
    if (!lowest || !(arch < *lowest)) return std::nullopt;
    facts.push_back(cuda->toolkit->ref());
    auto error = finding(
        Severity::error, kStage, "", {Field::torch, device.field},
        fmt::format("{} has no code for {}: it is built by nvcc of CUDA {}, whose lowest target is {}",
                    named(context, build), device.text, cuda->toolkit->text("cuda"),
                    fatbin::to_text(*lowest)),
        std::move(facts));
    offer_builds(context, arch, error);
    return error;
}

void judge_wheel(const Context& context, const TorchBuild& build, const Device& device, Findings& out) {
    const auto& wheel = *build.torch.wheel;
    const auto arch = device_arch(device.arch);
    const std::vector<Field> about{Field::torch, device.field};
    const auto question = fmt::format("whether {} has code for {}", build.text, device.text);
    auto facts = device.facts;
    facts.push_back(wheel.ref());
    if (build.torch.variant == "cpu") {
        auto error =
            finding(Severity::error, kStage, "", about,
                    fmt::format("{} for {} is built for the CPU: it has no code for {} or any other GPU",
                                build.text, build.arch, device.text),
                    std::move(facts));
        offer_builds(context, arch, error);
        out.push_back(std::move(error));
        return;
    }
    if (has_sass(wheel.list("compute"), arch)) {
        cite(facts, context.facts, "policy-sass-same-major");
        accept(context, out, kStage, "", about, question, std::move(facts));
        return;
    }
    if (const auto ptx = ptx_for(wheel.list("ptx"), arch)) {
        judge_jit(context, build, device, *ptx, std::move(facts), out);
        return;
    }
    if (!wheel.has("compute") || !wheel.has("ptx")) {
        if (auto error = below_its_toolkit(context, build, device, facts)) {
            out.push_back(*std::move(error));
            return;
        }
        const Unresolved gap{
            Field::torch,
            fmt::format("no fact lists the {} of {}", wheel.has("compute") ? "PTX" : "code", build.text),
            {}};
        auto open = unknown(kStage, "", about, gap, question);
        open.facts = std::move(facts);
        out.push_back(std::move(open));
        return;
    }
    const bool integrated = device.architecture.text("integrated") == "true";
    cite(facts, context.facts, integrated ? "policy-sass-integrated" : "policy-sass-same-major");
    const auto ptx = wheel.list("ptx");
    auto error =
        finding(Severity::error, kStage, "", about,
                fmt::format("{} has no code for {}: its SASS is for {}, {}{}", named(context, build),
                            device.text, listed(wheel.list("compute")),
                            ptx.empty() ? "and it has no PTX" : "its PTX for " + listed(ptx),
                            integrated ? "; an integrated GPU runs SASS of its own capability only" : ""),
                std::move(facts));
    offer_builds(context, arch, error);
    out.push_back(std::move(error));
}

void judge(const Context& context, Findings& out) {
    if (!wants_wheel(context)) return;
    const auto torch = torch_build(context);
    const auto gpu = device(context);
    if (const auto* gap = std::get_if<Unresolved>(&torch)) {
        out.push_back(unknown(kStage, "", {Field::torch}, *gap, "whether it has code for the GPU"));
        return;
    }
    const auto& build = std::get<TorchBuild>(torch);
    if (never_published(build)) return;
    if (silent_cpu_build(context, build)) return;  // torch-published-for-arch rejects it at install
    if (const auto* gap = std::get_if<Unresolved>(&gpu)) {
        out.push_back(unknown(kStage, "", {gap->field, Field::torch}, *gap,
                              fmt::format("whether {} has code for it", build.text)));
        return;
    }
    const auto& known = std::get<Device>(gpu);
    if (!build.torch.wheel) {
        out.push_back(unknown(kStage, "", {Field::torch, known.field}, no_wheel_row(build),
                              fmt::format("whether it has code for {}", known.text)));
        return;
    }
    judge_wheel(context, build, known, out);
}

}  // namespace

Rule torch_ships_compute() {
    return {
        .id = "torch-ships-compute",
        .stage = kStage,
        .summary = "The torch wheel holds machine code, or PTX that the driver compiles, for the GPU.",
        .why =
            "A wheel holds machine code for the architectures that it was built for, which runs on the same "
            "major and a lower-or-equal minor, and sometimes PTX, which the driver compiles for newer GPUs. "
            "With neither, the first kernel fails: no kernel image is available for execution on the device.",
        .fails = "torch: 2.5.0+cu124, compute: \"12.0\"",
        .passes = "torch: 2.7.1+cu128, compute: \"12.0\"",
        .reads = {Field::torch, Field::gpu, Field::compute, Field::arch, Field::driver, Field::family,
                  Field::image},
        .needs = {{Field::torch}, {Field::gpu, Field::compute}},
        .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
