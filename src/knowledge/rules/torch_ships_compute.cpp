// Does that wheel hold code for the GPU? SASS of the same major and a lower or equal minor, or PTX that the
// driver compiles. It depends on torch and the wheel's CUDA: the variants of one release hold different code.
#include "base/text.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/resolve/torch_wheels.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

bool is_integrated(const Device& device) {
    return device.architecture.text("integrated") == "true";
}

// The driver compiles PTX of its own CUDA and older only.
void judge_jit(Ask& ask, const TorchBuild& build, const Device& device, std::string_view ptx) {
    const auto& wheel = *build.torch.wheel;
    const auto cuda = Version::parse(wheel.text("cuda"));
    // The driver of an integrated GPU follows no branch: what it compiles is open.
    const bool by_branch = ask.cell.has(Field::driver) && !is_integrated(device);
    const auto driver = by_branch ? lookup::driver(ask.facts, ask.cell.text(Field::driver)) : std::nullopt;
    if (driver && driver->branch && cuda) {
        const auto native = native_cuda(ask.facts, *driver);
        if (native.at_most && *native.at_most < *cuda) {
            ask.question({Field::torch, device.field, Field::driver}, {});
            ask.reject("{} has only PTX {} for {}, and {} (CUDA {}) does not compile PTX of CUDA {}",
                       build.text, ptx, device.text, driver_text(*driver), native.at_most->text(),
                       cuda->text())
                .because(device.facts)
                .because(wheel.ref())
                .because(driver->branch->ref())
                .because(ask.facts.row("policy-ptx-isa-driver"))
                .other(Field::torch);
            return;
        }
    }
    ask.degrade(
           "{} runs on {} by PTX {} only: the driver compiles it at the first start, if it is of CUDA {} "
           "or newer",
           build.text, device.text, ptx, cuda ? cuda->text() : "the wheel")
        .because(device.facts)
        .because(wheel.ref())
        .because(ask.facts.row("policy-ptx-jit-forward"))
        .other(Field::torch);
}

// Without a variant the index decides which CUDA it is: said, because nobody wrote it.
std::string named(const Context& context, const TorchBuild& build) {
    const bool bare = context.cell.text(Field::torch).find('+') == std::string_view::npos;
    return bare ? build.text + " (the default build)" : build.text;
}

// Not all of the wheel's code is known. Of lower targets than its own, the toolkit that built it puts neither
// SASS nor PTX into it.
void judge_unlisted(Ask& ask, const TorchBuild& build, const Device& device) {
    const auto& wheel = *build.torch.wheel;
    const auto cuda = lookup::cuda(ask.facts, wheel.text("cuda"));
    const auto lowest = cuda && cuda->toolkit ? target_range(*cuda->toolkit).lowest : std::nullopt;
    if (lowest && device_arch(device.arch) < *lowest) {
        ask.reject("{} has no code for {}: it is built by nvcc of CUDA {}, whose lowest target is {}",
                   named(ask, build), device.text, cuda->toolkit->text("cuda"), fatbin::to_text(*lowest))
            .because(device.facts)
            .because(wheel.ref())
            .because(cuda->toolkit->ref())
            .other(Field::torch);
        return;
    }
    ask.unknown(Field::torch, "no fact lists the {} of {}", wheel.has("compute") ? "PTX" : "code", build.text)
        .because(device.facts)
        .because(wheel.ref());
}

void judge_wheel(Ask& ask, const TorchBuild& build, const Device& device) {
    const auto& wheel = *build.torch.wheel;
    const auto arch = device_arch(device.arch);
    if (build.torch.variant == "cpu") {
        ask.reject("{} for {} is built for the CPU: it has no code for {} or any other GPU", build.text,
                   build.arch, device.text)
            .because(device.facts)
            .because(wheel.ref())
            .other(Field::torch);
        return;
    }
    if (has_sass(wheel.list("compute"), arch)) {
        auto facts = device.facts;
        facts.push_back(wheel.ref());
        cite(facts, ask.facts, "policy-sass-same-major");
        return ask.accept(std::move(facts));
    }
    const auto ptx = wheel.list("ptx");
    if (const auto code = ptx_for(ptx, arch)) return judge_jit(ask, build, device, *code);
    if (!wheel.has("compute") || !wheel.has("ptx")) return judge_unlisted(ask, build, device);
    ask.reject("{} has no code for {}: its SASS is for {}, {}{}", named(ask, build), device.text,
               listed(wheel.list("compute")),
               ptx.empty() ? "and it has no PTX" : "its PTX for " + listed(ptx),
               is_integrated(device) ? "; an integrated GPU runs SASS of its own capability only" : "")
        .because(device.facts)
        .because(wheel.ref())
        .because(ask.facts.row(is_integrated(device) ? "policy-sass-integrated" : "policy-sass-same-major"))
        .other(Field::torch);
}

void judge_torch_ships_compute(Ask& ask) {
    if (!wants_wheel(ask)) return;
    ask.question({Field::torch}, "whether it has code for the GPU");
    const auto build = ask.torch_build();
    if (!build || never_published(*build)) return;
    if (silent_cpu_build(ask, *build)) return;  // torch-published-for-arch rejects it at install
    const auto gpu = device(ask);
    if (const auto* gap = std::get_if<Unresolved>(&gpu)) {
        ask.question({gap->field, Field::torch}, fmt::format("whether {} has code for it", build->text));
        ask.unknown(*gap);
        return;
    }
    const auto& known = std::get<Device>(gpu);
    ask.question({Field::torch, known.field}, fmt::format("whether it has code for {}", known.text));
    if (!build->torch.wheel) {
        ask.unknown(no_wheel_row(*build));
        return;
    }
    ask.reword(fmt::format("whether {} has code for {}", build->text, known.text));
    judge_wheel(ask, *build, known);
}

}  // namespace

Rule torch_ships_compute() {
    return {
        .id = "torch-ships-compute",
        .stage = Stage::runtime,
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
        .judge = judge_torch_ships_compute};
}

}  // namespace cudamatrix::rules
