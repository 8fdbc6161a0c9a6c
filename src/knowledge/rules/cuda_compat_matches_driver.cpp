// Do the compat libraries in the image go with the driver? They are made for some older branches; a driver of
// the same or a newer CUDA does better without them.
#include "base/text.hpp"
#include "knowledge/resolve/compat_hardware.hpp"
#include "knowledge/resolve/host_driver.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::container_start;

std::string libraries(const Compat& compat) {
    return fmt::format("the compat libraries of CUDA {}", compat.cuda.text());
}

void unused(const Context& context, const lookup::Driver& driver, const Compat& compat, Findings& out) {
    const std::vector<Field> about{Field::cuda_compat, Field::driver};
    std::vector<FactRef> facts{driver.branch->ref()};
    cite(facts, context.facts, "policy-compat-hook");
    if (compat.cuda == *compat.native.at_least) {
        out.push_back(finding(Severity::note, kStage, "", about,
                              fmt::format("{} add nothing on {}, which is of CUDA {} itself",
                                          libraries(compat), driver_text(driver), compat.cuda.text()),
                              std::move(facts)));
        return;
    }
    cite(facts, context.facts, "policy-compat-mismatch");
    auto warning = finding(
        Severity::warning, kStage, "", about,
        fmt::format("{} are older than {} (CUDA {}): nvidia-container-toolkit leaves them unused, and forced "
                    "onto the library path they fail with error 803",
                    libraries(compat), driver_text(driver), compat.native.at_least->text()),
        std::move(facts));
    warning.fixes.push_back(set_to(Field::cuda_compat, compat.native.at_least->text()));
    out.push_back(std::move(warning));
}

void wrong_branch(const Context& context, const lookup::Driver& driver, const Compat& compat, Findings& out) {
    std::vector<FactRef> facts{compat.row->ref()};
    cite(facts, context.facts, "policy-compat-hook");
    cite(facts, context.facts, "policy-compat-mismatch");
    const auto branches = compat.row->list("branches");
    auto warning = finding(
        Severity::warning, kStage, "", {Field::cuda_compat, Field::driver},
        fmt::format(
            "{} are not made for driver branch {}, but for {}: nvidia-container-toolkit 1.19 and newer "
            "leaves them unused, and where they are used they fail with error 803",
            libraries(compat), driver.branch->text("branch"), listed(branches)),
        std::move(facts));
    for (const auto branch : branches) {
        if (Version::parse(branch)->major() < driver.exact.major()) continue;
        warning.fixes.push_back(set_to(Field::driver, branch));
        break;
    }
    out.push_back(std::move(warning));
}

void judge(const Context& context, Findings& out) {
    const std::vector<Field> about{Field::cuda_compat, Field::driver};
    const auto text = context.cell.text(Field::cuda_compat);
    if (windows_driver(context)) {
        std::vector<FactRef> facts;
        cite(facts, context.facts, "policy-compat-linux-only");
        cite(facts, context.facts, "policy-wsl-driver");
        out.push_back(finding(Severity::warning, kStage, "", about,
                              fmt::format("the compat libraries of CUDA {} serve Linux drivers only: they do "
                                          "nothing for Windows driver {}",
                                          text, context.cell.text(Field::driver)),
                              std::move(facts)));
        return;
    }
    const auto question = fmt::format("whether the compat libraries of CUDA {} go with driver {}", text,
                                      context.cell.text(Field::driver));
    if (const auto gpu = integrated_gpu(context)) {
        auto open = unknown(kStage, "", {Field::cuda_compat, gpu->field}, outside_branches(*gpu), question);
        open.facts = gpu->facts;
        cite(open.facts, context.facts, "policy-jetson-driver");
        out.push_back(std::move(open));
        return;
    }
    const auto resolved = host_driver(context);
    if (const auto* gap = std::get_if<Unresolved>(&resolved)) {
        out.push_back(unknown(kStage, "", about, *gap, question));
        return;
    }
    const auto& driver = std::get<lookup::Driver>(resolved);
    const auto compat = compat_on(context, driver);
    if (compat.gap) {
        out.push_back(unknown(kStage, "", about, *compat.gap, question));
    } else if (compat.use == CompatUse::unused) {
        unused(context, driver, compat, out);
    } else if (compat.use == CompatUse::wrong_branch) {
        // Where they are put to use all the same, the hardware decides: forward-compatibility-hardware.
        if (refuses_compat(context) && toolkit_uses_any_branch(context)) return;
        wrong_branch(context, driver, compat, out);
    } else {
        accept(context, out, kStage, "", about, question, {compat.row->ref(), driver.branch->ref()});
    }
}

}  // namespace

Rule cuda_compat_matches_driver() {
    return {.id = "cuda-compat-matches-driver",
            .stage = kStage,
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
            .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
