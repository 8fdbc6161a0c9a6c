// Is there a wheel for the processor and the system at all, and is it the one that was meant? On aarch64 and
// on Windows the default index serves CPU builds: pip installs one without a word.
#include "base/text.hpp"
#include "knowledge/resolve/host.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/resolve/torch_wheels.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// With a GPU in the cell the build cannot be what was meant, without one it may be.
Answer silent_cpu(Ask& ask, const TorchBuild& build, std::string_view here, std::string_view elsewhere) {
    return ask.say(
        wants_gpu(ask) ? Severity::error : Severity::warning,
        fmt::format("torch {} for {} is a CPU build on the default index, where {} gets {}: it "
                    "installs without a word and sees no GPU",
                    build.torch.exact.text(), here, elsewhere, build.torch.release->text("default_variant")));
}

// The row of the newest release that has a wheel there.
std::optional<Row> newest_for(const Facts& facts, std::string_view os, std::string_view arch) {
    std::optional<Row> newest;
    for (const auto& row : facts.rows("torch_os_wheels")) {  // sorted
        if (row.text("os") == os && row.text("arch") == arch) newest = row;
    }
    return newest;
}

void judge_no_wheel(Ask& ask, const TorchBuild& build, const OtherOs& os) {
    const auto newest = newest_for(ask.facts, os.os, build.arch);
    const bool is_older = newest && lookup::required_version(*newest, "torch") < build.torch.exact;
    ask.question({Field::torch, Field::os, Field::arch}, {});
    auto answer = ask.reject(
        "the default index has no wheel of torch {} for {} on {}{}", build.torch.exact.text(),
        os.row.text("name"), build.arch,
        is_older ? fmt::format(": torch {} is the newest that has one", newest->text("torch")) : "");
    answer.because(build.torch.release->ref()).because(os.row.ref());
    if (is_older) answer.because(newest->ref());
    if (newest) answer.fix(Field::torch, newest->text("torch"));
    answer.other(Field::os);
}

// Windows on aarch64 has CPU builds alone: none with a CUDA is looked for there.
void judge_cuda_build(Ask& ask, const OtherOs& os) {
    const auto processors = os.row.list("cuda_wheels_for");
    const auto arch = ask.cell.text(Field::arch);
    if (arch.empty() || processors.empty() || contains(processors, arch)) return;
    ask.reject("CUDA builds of torch are not made for {} on {}", os.row.text("name"), arch)
        .because(os.row.ref())
        .one_of(Field::arch, processors);
}

void judge_on_other_os(Ask& ask, const TorchBuild& build, const OtherOs& os) {
    const auto& torch = build.torch;
    const auto wheels = os_wheels(ask, os, build);
    const bool cpu_only = os.row.text("cuda_wheels") == "false";
    ask.question({Field::os, Field::torch}, {});
    if (cpu_only && (names_cuda_variant(ask) || (wants_gpu(ask) && !wheels.empty()))) {
        auto answer =
            ask.reject("CUDA builds of torch are not made for {}: what torch {} has there uses no NVIDIA GPU",
                       os.row.text("name"), torch.exact.text());
        answer.because(os.row.ref());
        if (!wants_gpu(ask)) answer.fix(Field::torch, torch.exact.text());
        answer.other(Field::os);
        return;
    }
    // On an index of its own: torch-built-for-cuda asks.
    if (names_cuda_variant(ask)) return judge_cuda_build(ask, os);
    if (wheels.empty()) return judge_no_wheel(ask, build, os);
    const bool bare = ask.cell.text(Field::torch).find('+') == std::string_view::npos;
    if (cpu_only || !bare || !torch.release->has("default_variant")) return;
    silent_cpu(ask, build, os.row.text("name"), "Linux")
        .because(torch.release->ref())
        .because(wheels.front().ref())
        .fix(Field::torch, fmt::format("{}+{}", torch.exact.text(), torch.release->text("default_variant")));
}

// A Jetson takes its torch from NVIDIA, whose builds go by the same numbers: what the default index lacks
// says nothing of them.
bool is_for_jetson(Ask& ask, const TorchBuild& build) {
    const auto gpu = integrated_gpu(ask);
    if (!gpu) return false;
    const auto index = *ask.facts.row("policy-jetson-torch-index");
    ask.reword(fmt::format("whether torch {} is there", build.torch.exact.text()));
    ask.unknown(gpu->field,
                "the default index has no build of torch {} for a GPU on {}; {}, which no fact lists",
                build.torch.exact.text(), build.arch, index.text("says"))
        .because(build.torch.release->ref())
        .because(gpu->facts)
        .because(index.ref());
    return true;
}

void judge_torch_published_for_arch(Ask& ask) {
    if (!wants_wheel(ask)) return;
    const auto build = if_known(torch_build(ask));
    if (!build) return;  // torch-built-for-cuda asks
    if (const auto os = other_os(ask)) return judge_on_other_os(ask, *build, *os);
    if (!ask.cell.has(Field::arch)) return;
    const auto& torch = build->torch;
    ask.question({Field::arch, Field::torch},
                 fmt::format("whether {} is published for {}", build->text, build->arch));
    const bool no_wheel = no_wheels_for_arch(*build), cpu_build = silent_cpu_build(ask, *build);
    if ((no_wheel || cpu_build) && is_for_jetson(ask, *build)) return;
    if (no_wheel) {
        ask.reject("the default index has no wheel of torch {} for {}", torch.exact.text(), build->arch)
            .because(torch.release->ref())
            .other(Field::torch)
            .fix(Field::arch, "x86_64");
    } else if (cpu_build) {
        silent_cpu(ask, *build, build->arch, "x86_64")
            .because(torch.release->ref())
            .because(torch.wheel->ref())
            .other(Field::torch);
    } else {
        std::vector<FactRef> facts{torch.release->ref()};
        if (torch.wheel) facts.push_back(torch.wheel->ref());
        ask.record_pass(std::move(facts));
    }
}

}  // namespace

Rule torch_published_for_arch() {
    return {
        .id = "torch-published-for-arch",
        .stage = Stage::install,
        .summary = "The torch release has wheels for processor and system, and the default one uses a GPU.",
        .why =
            "Wheels are built per processor and system. Where there is none pip finds no matching "
            "distribution; on Windows, and on aarch64 up to 2.10, the default index serves CPU builds "
            "only, so that torch installs, and torch.cuda.is_available() is False. For macOS there is "
            "no CUDA build at all.",
        .fails = "torch: 1.7.1, arch: aarch64",
        .passes = "torch: 2.11.0, arch: aarch64",
        .reads = {Field::torch, Field::arch, Field::os, Field::gpu, Field::compute, Field::host_class,
                  Field::family, Field::image},
        .needs = {{Field::torch}, {Field::arch, Field::os, Field::gpu}},
        .judge = judge_torch_published_for_arch};
}

}  // namespace cudamatrix::rules
