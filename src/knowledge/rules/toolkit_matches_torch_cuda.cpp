// The CUDA of the image compiles extensions, the CUDA of the wheel runs them: torch compares their majors.
#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

void judge_mismatch(Ask& ask, const TorchBuild& build, const Version& wheel, const Version& image) {
    const bool builds = says_it_builds(ask.cell);
    if (!builds && says_it_does_not_build(ask)) return;
    const auto row = extension_row(ask.facts, build.torch.release->text("torch"));
    if (!row) {
        ask.reword(fmt::format("whether they can be built with nvcc of CUDA {}", image.text()));
        ask.unknown(Field::torch, "no fact says what {} asks of extensions", build.text);
        return;
    }
    const bool refuses = row->text("checks_cuda") == "true";
    ask.say(refuses ? Severity::error : Severity::warning,
            fmt::format("{} was built with CUDA {} and nvcc of CUDA {} {}{}", build.text, wheel.text(),
                        image.text(),
                        refuses ? "is refused for its extensions: the majors differ"
                                : "links its extensions with another major of the runtime",
                        builds ? "" : "; what the wheel holds runs all the same"))
        .because(build.torch.wheel->ref())
        .because(row->ref())
        .fix(Field::cuda, lookup::cuda(ask.facts, wheel.text())->exact.text())
        .accepted_other(Field::torch);
}

void judge_toolkit_matches_torch_cuda(Ask& ask) {
    if (!wants_wheel(ask)) return;
    const auto build = if_known(torch_build(ask));
    const auto image = if_known(image_cuda(ask));
    // Other rules report words that no fact knows, and wheels that are not described.
    if (!build || !image || !build->torch.wheel) return;
    const auto wheel = Version::parse(build->torch.wheel->text("cuda"));
    if (!wheel) return;
    ask.question({Field::cuda, Field::torch},
                 fmt::format("whether {}, built with CUDA {}, and nvcc of CUDA {} have one major",
                             build->text, wheel->text(), image->exact.text()));
    if (wheel->major() == image->exact.major()) return ask.record_pass({build->torch.wheel->ref()});
    judge_mismatch(ask, *build, *wheel, image->exact);
}

}  // namespace

Rule toolkit_matches_torch_cuda() {
    return {.id = "toolkit-matches-torch-cuda",
            .stage = Stage::build,
            .summary = "Extensions of torch are built with a toolkit of the major that torch was built with.",
            .why =
                "torch.utils.cpp_extension compares nvcc with torch.version.cuda and raises (\"The "
                "detected CUDA version mismatches the version that was used to compile PyTorch\") where "
                "the majors differ; another minor is a warning only. A wheel brings its own CUDA "
                "libraries, so an image that builds nothing runs it.",
            .fails = "cuda: 11.8.0, torch: 2.6.0+cu124, flavour: devel",
            .passes = "cuda: 12.6.3, torch: 2.6.0+cu124, flavour: devel",
            .reads = {Field::cuda, Field::torch, Field::arch, Field::compiler, Field::arch_list, Field::uses,
                      Field::flavour, Field::family, Field::image},
            .needs = {{Field::cuda}, {Field::torch}},
            .judge = judge_toolkit_matches_torch_cuda};
}

}  // namespace cudamatrix::rules
