// Do all libraries of the wheel hold code for the GPU, or only the one that its architecture list speaks of?
#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "knowledge/resolve/gpu_code.hpp"
#include "knowledge/resolve/subject.hpp"
#include "knowledge/resolve/torch_options.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::runtime;

// The libraries of a wheel that were opened; none for most wheels.
std::vector<Row> libraries_of(const Facts& facts, std::string_view torch, std::string_view variant,
                              std::string_view arch) {
    std::vector<Row> out;
    for (const auto& row : facts.rows("torch_libraries")) {
        if (row.text("torch") == torch && row.text("variant") == variant && row.text("arch") == arch)
            out.push_back(row);
    }
    return out;
}

bool all_run_on(const std::vector<Row>& libraries, const fatbin::Arch& device) {
    return std::all_of(libraries.begin(), libraries.end(),
                       [&](const Row& library) { return has_code(library, "sass", device); });
}

void judge(const Context& context, Findings& out) {
    if (!wants_wheel(context)) return;
    const auto torch = torch_build(context);
    const auto gpu = device(context);
    const auto* build = std::get_if<TorchBuild>(&torch);
    const auto* known = std::get_if<Device>(&gpu);
    if (build == nullptr || known == nullptr) return;  // torch-ships-compute says what is not known
    const auto libraries =
        libraries_of(context.facts, build->torch.exact.text(), build->torch.variant, build->arch);
    const auto arch = device_arch(known->arch);
    // A wheel that promises no code for the GPU is torch-ships-compute's finding.
    if (libraries.empty() || !build->torch.wheel || !has_code(*build->torch.wheel, "compute", arch)) return;
    const std::vector<Field> about{Field::torch, known->field};
    auto facts = known->facts;
    if (all_run_on(libraries, arch)) {
        for (const auto& library : libraries)
            facts.push_back(library.ref());
        accept(context, out, kStage, "", about,
               fmt::format("whether each library of {} has code for {}", build->text, known->text),
               std::move(facts));
        return;
    }
    for (const auto& library : libraries) {
        if (has_code(library, "sass", arch)) continue;
        const auto ptx = library.list("ptx");
        auto cited = facts;
        cited.push_back(library.ref());
        cite(cited, context.facts, "policy-sass-same-major");
        auto warning = finding(
            Severity::warning, kStage, library.text("library"), about,
            fmt::format("{} of {} has no code for {}, which the wheel promises: its SASS is for {}, {}; "
                        "{} fail there",
                        library.text("library"), build->text, known->text, listed(library.list("sass")),
                        ptx.empty() ? "and it has no PTX" : "its PTX for " + listed(ptx),
                        library.text("purpose")),
            std::move(cited));
        warning.fixes = torch_options(context, [&](const Row& wheel) {
            const auto others =
                libraries_of(context.facts, wheel.text("torch"), wheel.text("variant"), wheel.text("arch"));
            return !others.empty() && all_run_on(others, arch);
        });
        out.push_back(std::move(warning));
    }
}

}  // namespace

Rule torch_libraries_have_code() {
    return {
        .id = "torch-libraries-have-code",
        .stage = kStage,
        .summary = "Every library of the torch wheel holds code for a GPU that the wheel promises.",
        .why =
            "The architecture list of a wheel speaks of its main library. Others are built from lists of "
            "their own: where one holds neither machine code nor PTX for the GPU, torch starts and most of "
            "it works, and the first function of that library fails with no kernel image is available.",
        .fails = "torch: 2.13.0, compute: \"7.5\"",
        .passes = "torch: 2.15.0, compute: \"7.5\"",
        .reads = {Field::torch, Field::gpu, Field::compute, Field::arch, Field::family, Field::image},
        .needs = {{Field::torch}, {Field::gpu, Field::compute}},
        .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
