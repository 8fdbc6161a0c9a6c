// Do the compat libraries in the image go with the driver? They are made for some older branches; a driver of
// the same or a newer CUDA does better without them.
#include "knowledge/resolve/host.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

void judge_unused(Ask& ask, const lookup::Driver& driver, const Compat& compat) {
    const auto& native = *compat.native.at_least;
    if (compat.cuda == native) {
        ask.note("the compat libraries of CUDA {} add nothing on {}, which is of CUDA {} itself",
                 compat.cuda.text(), driver_text(driver), compat.cuda.text())
            .because(driver.branch)
            .because(ask.facts.row("policy-compat-hook"));
        return;
    }
    ask.degrade(
           "the compat libraries of CUDA {} are older than {} (CUDA {}): nvidia-container-toolkit leaves "
           "them unused, and forced onto the library path they fail with error 803",
           compat.cuda.text(), driver_text(driver), native.text())
        .because(driver.branch)
        .because(ask.facts.row("policy-compat-hook"))
        .because(ask.facts.row("policy-compat-mismatch"))
        .fix(Field::cuda_compat, native.text());
}

void judge_wrong_branch(Ask& ask, const lookup::Driver& driver, const Compat& compat) {
    const auto branches = compat.row->list("branches");
    auto answer = ask.degrade(
        "the compat libraries of CUDA {} are not made for driver branch {}, but for {}: "
        "nvidia-container-toolkit 1.19 and newer leaves them unused, and where they are used they fail with "
        "error 803",
        compat.cuda.text(), driver.branch->text("branch"), listed(branches));
    answer.because(compat.row)
        .because(ask.facts.row("policy-compat-hook"))
        .because(ask.facts.row("policy-compat-mismatch"));
    for (const auto branch : branches) {
        if (Version::parse(branch)->major() < driver.exact.major()) continue;
        answer.fix(Field::driver, branch);
        break;
    }
}

void judge_cuda_compat_matches_driver(Ask& ask) {
    const auto text = ask.cell.text(Field::cuda_compat);
    ask.question({Field::cuda_compat, Field::driver},
                 fmt::format("whether the compat libraries of CUDA {} go with driver {}", text,
                             ask.cell.text(Field::driver)));
    if (windows_driver(ask)) {
        ask.degrade(
               "the compat libraries of CUDA {} serve Linux drivers only: they do nothing for Windows "
               "driver {}",
               text, ask.cell.text(Field::driver))
            .because(ask.facts.row("policy-compat-linux-only"))
            .because(ask.facts.row("policy-wsl-driver"));
        return;
    }
    if (const auto gpu = integrated_gpu(ask)) {
        ask.question({Field::cuda_compat, gpu->field}, ask.text());
        ask.unknown(outside_branches(*gpu))
            .because(gpu->facts)
            .because(ask.facts.row("policy-jetson-driver"));
        return;
    }
    const auto driver = ask.known(host_driver(ask));
    if (!driver) return;
    const auto compat = compat_on(ask, *driver);
    if (compat.gap) {
        ask.unknown(*compat.gap);
    } else if (compat.use == CompatUse::unused) {
        judge_unused(ask, *driver, compat);
    } else if (compat.use == CompatUse::works) {
        ask.accept({compat.row->ref(), driver->branch->ref()});
    } else if (!refuses_compat(ask) || !toolkit_uses_any_branch(ask)) {
        // Where they are used all the same, the hardware decides: forward-compatibility-hardware.
        judge_wrong_branch(ask, *driver, compat);
    }
}

}  // namespace

Rule cuda_compat_matches_driver() {
    return {.id = "cuda-compat-matches-driver",
            .stage = Stage::container_start,
            .summary = "The CUDA compat libraries in the image are made for the driver branch of the host.",
            .why =
                "Compat libraries are the user part of a newer driver and work with the kernel part of some "
                "older branches only. The container toolkit leaves others unused, so that they lift nothing; "
                "forced onto the library path they end in error 803, system has unsupported display driver / "
                "cuda driver combination.",
            .fails = "driver: 580.95.05, cuda_compat: \"12.4\"",
            .passes = "driver: 535.183.01, cuda_compat: \"12.4\"",
            .reads = {Field::driver, Field::cuda_compat, Field::os, Field::platform, Field::gpu,
                      Field::compute, Field::host_class, Field::toolkit},
            .needs = {{Field::driver}, {Field::cuda_compat}},
            .judge = judge_cuda_compat_matches_driver};
}

}  // namespace cudamatrix::rules
