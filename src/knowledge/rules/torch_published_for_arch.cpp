// Is there a wheel for the processor and the system at all, and is it the one that was meant? On aarch64 and
// on Windows the default index serves CPU builds: pip installs one without a word.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/gpu_code.hpp"
#include "knowledge/resolve/subject.hpp"
#include "knowledge/resolve/torch_options.hpp"
#include "knowledge/resolve/wheel_os.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::install;

// A build with code for the cell's GPU; every build where the GPU is none that facts know.
bool serves_gpu(const Context& context, const Row& wheel) {
    if (!wants_gpu(context)) return true;
    const auto resolved = device(context);
    const auto* gpu = std::get_if<Device>(&resolved);
    if (gpu == nullptr) return true;
    return has_sass(wheel.list("compute"), device_arch(gpu->arch));
}

// With a GPU in the cell the build cannot be what was meant, without one it may be.
void silent_cpu(const Context& context, const TorchBuild& build, std::string message,
                std::vector<FactRef> facts, std::vector<Field> about, Findings& out) {
    auto found = finding(wants_gpu(context) ? Severity::error : Severity::warning, kStage, "",
                         std::move(about), std::move(message), std::move(facts));
    if (const auto elsewhere = build.torch.release->text("default_variant"); other_os(context)) {
        found.fixes = {set_to(Field::torch, fmt::format("{}+{}", build.torch.exact.text(), elsewhere))};
    } else {
        found.fixes = torch_options(context, [&](const Row& wheel) { return serves_gpu(context, wheel); });
    }
    out.push_back(std::move(found));
}

// The newest release that has a wheel there.
std::optional<Version> newest_for(const Facts& facts, std::string_view os, std::string_view arch) {
    std::optional<Version> newest;
    for (const auto& row : facts.rows("torch_os_wheels")) {
        if (row.text("os") != os || row.text("arch") != arch) continue;
        newest = lookup::required_version(row, "torch");  // the rows are sorted
    }
    return newest;
}

void judge_no_wheel(const Context& context, const TorchBuild& build, const OtherOs& os, Findings& out) {
    auto facts = std::vector<FactRef>{build.torch.release->ref(), os.row.ref()};
    const auto newest = newest_for(context.facts, os.os, build.arch);
    std::string what = fmt::format("the default index has no wheel of torch {} for {} on {}",
                                   build.torch.exact.text(), os.row.text("name"), build.arch);
    if (newest && *newest < build.torch.exact) {
        what += fmt::format(": torch {} is the newest that has one", newest->text());
        cite(facts, context.facts, fmt::format("torch-{}-{}-{}", newest->text(), os.os, build.arch));
    }
    auto error = finding(Severity::error, kStage, "", {Field::torch, Field::os, Field::arch}, what, facts);
    if (newest) error.fixes.push_back(set_to(Field::torch, newest->text()));
    offer_linux(context, error);
    out.push_back(std::move(error));
}

void judge_other(const Context& context, const TorchBuild& build, const OtherOs& os, Findings& out) {
    const auto name = os.row.text("name");
    const std::vector<Field> about{Field::os, Field::torch};
    const auto wheels = os_wheels(context, os, build);
    const bool cpu_only = os.row.text("cuda_wheels") == "false";
    if (cpu_only && (names_cuda_variant(context) || (wants_gpu(context) && !wheels.empty()))) {
        auto error = finding(Severity::error, kStage, "", about,
                             fmt::format("CUDA builds of torch are not made for {}: what torch {} has there "
                                         "uses no NVIDIA GPU",
                                         name, build.torch.exact.text()),
                             {os.row.ref()});
        if (!wants_gpu(context)) error.fixes.push_back(set_to(Field::torch, build.torch.exact.text()));
        offer_linux(context, error);
        out.push_back(std::move(error));
        return;
    }
    if (names_cuda_variant(context)) return;  // on an index of its own: torch-built-for-cuda asks
    if (wheels.empty()) return judge_no_wheel(context, build, os, out);
    const bool bare = context.cell.text(Field::torch).find('+') == std::string_view::npos;
    if (cpu_only || !bare || !build.torch.release->has("default_variant")) return;
    silent_cpu(context, build,
               fmt::format("torch {} for {} is a CPU build on the default index, where Linux gets {}: it "
                           "installs without a word and sees no GPU",
                           build.torch.exact.text(), name, build.torch.release->text("default_variant")),
               {build.torch.release->ref(), wheels.front().ref()}, about, out);
}

void judge(const Context& context, Findings& out) {
    if (!wants_wheel(context)) return;
    const auto resolved = torch_build(context);
    const auto* build = std::get_if<TorchBuild>(&resolved);
    if (build == nullptr) return;  // torch-built-for-cuda asks
    if (const auto os = other_os(context)) return judge_other(context, *build, *os, out);
    if (!context.cell.has(Field::arch)) return;
    const auto& release = *build->torch.release;
    const std::vector<Field> about{Field::arch, Field::torch};
    if (no_wheels_for_arch(*build)) {
        auto error = finding(Severity::error, kStage, "", about,
                             fmt::format("the default index has no wheel of torch {} for {}",
                                         build->torch.exact.text(), build->arch),
                             {release.ref()});
        error.fixes = torch_options(context, [](const Row&) { return true; });
        error.fixes.push_back(set_to(Field::arch, "x86_64"));
        out.push_back(std::move(error));
        return;
    }
    if (!silent_cpu_build(context, *build)) {
        return passed(context, [&] {
            Acceptance published{{},
                                 kStage,
                                 about,
                                 fmt::format("whether {} is published for {}", build->text, build->arch),
                                 {release.ref()}};
            if (build->torch.wheel) published.facts.push_back(build->torch.wheel->ref());
            return published;
        });
    }
    silent_cpu(
        context, *build,
        fmt::format("torch {} for {} is a CPU build on the default index, where x86_64 gets {}: it installs "
                    "without a word and sees no GPU",
                    build->torch.exact.text(), build->arch, release.text("default_variant")),
        {release.ref(), build->torch.wheel->ref()}, about, out);
}

}  // namespace

Rule torch_published_for_arch() {
    return {
        .id = "torch-published-for-arch",
        .stage = kStage,
        .summary = "The torch release has wheels for processor and system, and the default one uses a GPU.",
        .why =
            "Wheels are built per processor and system. Where there is none pip finds no matching "
            "distribution; on Windows, and on aarch64 up to 2.10, the default index serves CPU builds "
            "only, so that torch installs, and torch.cuda.is_available() is False. For macOS there is "
            "no CUDA build at all.",
        .fails = "torch: 1.7.1, arch: aarch64",
        .passes = "torch: 2.11.0, arch: aarch64",
        .reads = {Field::torch, Field::arch, Field::os, Field::gpu, Field::compute, Field::family,
                  Field::image},
        .needs = {{Field::torch}, {Field::arch, Field::os, Field::gpu}},
        .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
