// Was that torch ever built for that CUDA? A variant that was never published cannot be installed, whatever
// the rest says.
#include "base/text.hpp"
#include "rules/all_rules.hpp"
#include "rules/subject.hpp"
#include "rules/torch_options.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::install;

// The variants of the release that have a wheel for the arch; all of the release's where no row tells the
// arches apart.
std::string variants_text(const Facts& facts, const TorchBuild& build) {
    std::vector<std::string_view> variants;
    for (const auto variant : build.torch.release->list("variants")) {
        if (facts.row(fmt::format("torch-{}+{}-{}", build.torch.exact.text(), variant, build.arch)))
            variants.push_back(variant);
    }
    return variants.empty() ? listed(build.torch.release->list("variants")) : listed(variants);
}

// The highest CUDA of the same release, and the nearest releases that have the variant.
std::vector<FixOption> options(const Context& context, const TorchBuild& build) {
    auto same = torch_options(
        context, [&](const Row& wheel) { return wheel.text("torch") == build.torch.exact.text(); });
    for (auto& option : torch_options(
             context, [&](const Row& wheel) { return wheel.text("variant") == build.torch.variant; })) {
        same.push_back(std::move(option));
    }
    return same;
}

void judge(const Context& context, Findings& out) {
    if (!wants_wheel(context)) return;
    const auto resolved = torch_build(context);
    if (const auto* gap = std::get_if<Unresolved>(&resolved)) {
        out.push_back(unknown(kStage, "", {Field::torch}, *gap, "whether it was published"));
        return;
    }
    const auto& build = std::get<TorchBuild>(resolved);
    const std::vector<Field> about{Field::torch};
    const auto question = fmt::format("whether {} was published", build.text);
    if (no_such_index(context.facts, build.torch.variant)) return;  // wheel-index-exists says so
    if (no_wheels_for_arch(build)) return;                          // torch-published-for-arch says so
    if (build.torch.wheel) {
        accept(context, out, kStage, "", about, question,
               {build.torch.release->ref(), build.torch.wheel->ref()});
        return;
    }
    if (!never_published(build)) {
        out.push_back(unknown(kStage, "", about, no_wheel_row(build), question));
        return;
    }
    auto error = finding(Severity::error, kStage, "", about,
                         fmt::format("{} was never published: torch {} was built for {}", build.text,
                                     build.torch.exact.text(), variants_text(context.facts, build)),
                         {build.torch.release->ref()});
    error.fixes = options(context, build);
    out.push_back(std::move(error));
}

}  // namespace

Rule torch_built_for_cuda() {
    return {.id = "torch-built-for-cuda",
            .stage = kStage,
            .summary = "The torch release was published for the CUDA variant that the cell names.",
            .why =
                "Each torch release is published for a few CUDA variants only. Asking pip for another one "
                "ends with \"No matching distribution\", or, without the variant's own index, silently "
                "installs another build.",
            .fails = "torch: 1.12.1+cu118",
            .passes = "torch: 1.12.1+cu113",
            .reads = {Field::torch, Field::arch, Field::family},
            .needs = {{Field::torch}},
            .judge = judge,
            .proof = {Attempt::resolve_variant, {"ERROR: No matching distribution found for {requirement}"}}};
}

}  // namespace cudamatrix::rules
