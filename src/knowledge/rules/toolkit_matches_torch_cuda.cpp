// The CUDA of the image compiles extensions, the CUDA of the wheel runs them: torch compares their majors.
#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/torch_options.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::build;

void offer(const Context& context, const Version& image, const Version& wheel, Finding& finding) {
    finding.fixes.push_back(set_to(Field::cuda, lookup::cuda(context.facts, wheel.text())->exact.text()));
    for (auto& option : torch_options(context, [&](const Row& row) {
             const auto cuda = Version::parse(row.text("cuda"));
             return cuda && cuda->major() == image.major();
         })) {
        finding.fixes.push_back(std::move(option));
    }
}

void judge(const Context& context, Findings& out) {
    if (!wants_wheel(context)) return;
    const auto torch = torch_build(context);
    const auto toolkit = image_cuda(context);
    const auto* build = std::get_if<TorchBuild>(&torch);
    const auto* image = std::get_if<lookup::Cuda>(&toolkit);
    // Words that no fact knows, and wheels that are not described, are other rules' findings.
    if (build == nullptr || image == nullptr || !build->torch.wheel) return;
    const auto wheel = Version::parse(build->torch.wheel->text("cuda"));
    if (!wheel) return;
    if (wheel->major() == image->exact.major()) {
        return passed(context, [&] {
            return Acceptance{
                {},
                kStage,
                {Field::cuda, Field::torch},
                fmt::format("whether {}, built with CUDA {}, and nvcc of CUDA {} have one major", build->text,
                            wheel->text(), image->exact.text()),
                {build->torch.wheel->ref()}};
        });
    }
    if (!says_it_builds(context) && says_it_does_not_build(context)) return;
    const auto row = extension_row(context.facts, build->torch.release->text("torch"));
    const std::vector<Field> about{Field::cuda, Field::torch};
    if (!row) {
        const Unresolved gap{
            Field::torch, fmt::format("no fact says what {} asks of extensions", build->text), {}};
        out.push_back(
            unknown(kStage, "", about, gap,
                    fmt::format("whether they can be built with nvcc of CUDA {}", image->exact.text())));
        return;
    }
    const bool refuses = row->text("checks_cuda") == "true";
    const bool builds = says_it_builds(context);
    auto message = fmt::format("{} was built with CUDA {} and nvcc of CUDA {} {}", build->text, wheel->text(),
                               image->exact.text(),
                               refuses ? "is refused for its extensions: the majors differ"
                                       : "links its extensions with another major of the runtime");
    if (!builds) message += "; what the wheel holds runs all the same";
    auto found = finding(builds && refuses ? Severity::error : Severity::warning, kStage, "", about,
                         std::move(message), {build->torch.wheel->ref(), row->ref()});
    offer(context, image->exact, *wheel, found);
    out.push_back(std::move(found));
}

}  // namespace

Rule toolkit_matches_torch_cuda() {
    return {.id = "toolkit-matches-torch-cuda",
            .stage = kStage,
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
            .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
