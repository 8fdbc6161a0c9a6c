// On Windows torch brings no triton, and torch.compile has nothing to compile for the GPU with.
#include <optional>
#include <string_view>

#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/resolve/torch_wheels.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

constexpr std::string_view kForWindows = "triton-windows";

// The project has no 3.2.0, only builds of it: 3.2.0.post21 is the newest.
std::optional<PackageRelease> newest_build_for_windows(const Facts& facts, std::string_view triton) {
    const auto builds = fitting_releases(facts, kForWindows, [&](const PackageRelease& release) {
        return release.text.substr(0, release.text.find(".post")) == triton;
    });
    return builds.empty() ? std::nullopt : std::optional(builds.back());
}

void judge_triton_comes_with_torch(Ask& ask) {
    const auto os = other_os(ask);
    // Without a CUDA variant the build there is for the CPU, which torch-published-for-arch says.
    if (!os || !wants_torch(ask) || !names_cuda_variant(ask)) return;
    if (os->row.text("cuda_wheels") == "false") return;
    const auto build = if_known(torch_build(ask));
    if (!build || never_published(*build)) return;
    const auto row = compile_row(ask.facts, build->torch.release->text("torch"));
    if (!row) return;  // before 2.0 there is no torch.compile; newer ones: dynamo-supports-python
    const auto name = os->row.text("name");
    ask.question({Field::os, Field::torch},
                 fmt::format("whether torch.compile of {} has triton on {}", build->text, name));
    const bool refuses = row->text("windows") == "false";
    // Of triton itself there are wheels for Linux only.
    const auto package = named_triton(ask);
    const bool fills = package && package->package == kForWindows;
    if (contains(row->list("triton_os"), os->os) || (fills && !refuses))
        return ask.record_pass({row->ref(), os->row.ref()});
    auto answer = ask.reject(
        "torch.compile of {} does not work on {}: {}; eager mode works", build->text, name,
        refuses ? "it refuses the system" : "torch brings triton, its compiler for GPUs, for Linux only");
    answer.because(row->ref()).because(os->row.ref());
    const auto filling = refuses ? std::nullopt : newest_build_for_windows(ask.facts, row->text("triton"));
    if (filling) answer.fix(with_package(ask, kForWindows, filling->text)).because(filling->row.ref());
    answer.other(Field::os);
}

}  // namespace

Rule triton_comes_with_torch() {
    return {.id = "triton-comes-with-torch",
            .stage = Stage::torch_compile,
            .summary = "On the cell's system torch brings triton, which torch.compile needs for a GPU.",
            .why =
                "torch asks for triton on Linux only. On Windows torch.compile for a GPU ends with \"Cannot "
                "find a working triton installation\", and releases before 2.5 refuse the system outright: "
                "\"Windows not yet supported for torch.compile\". The package triton-windows fills the gap.",
            .fails = "os: windows, torch: 2.6.0+cu124",
            .passes = "os: ubuntu24.04, torch: 2.6.0+cu124",
            .reads = {Field::os, Field::torch, Field::arch, Field::packages},
            .needs = {{Field::os}, {Field::torch}},
            .judge = judge_triton_comes_with_torch};
}

}  // namespace cudamatrix::rules
