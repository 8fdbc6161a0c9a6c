// Packages of which the index serves a source distribution only, or nothing for the machine.
// package-supports-python asks about the python where there are wheels.
#include "base/text.hpp"
#include "rules/all_rules.hpp"
#include "rules/packages.hpp"
#include "rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::install;

void judge_package(const Context& context, const Package& package, std::string_view arch, Findings& out) {
    const auto& row = *package.row;
    const bool source = row.text("sdist") == "true";
    auto found =
        finding(source ? Severity::warning : Severity::error, kStage, row.text("package"),
                {Field::packages, Field::arch},
                source ? fmt::format("{} has no wheel on the index for Linux on {}: pip builds it from its "
                                     "source, with compilers that must be there (of a CUDA extension nvcc, "
                                     "of torch's CUDA major) and the time that they take",
                                     package.text, arch)
                       : fmt::format("{} has no wheel on the index for Linux on {}, and no source to build",
                                     package.text, arch),
                {row.ref()});
    found.fixes = release_options(context, package,
                                  [&](const Release& release) { return !lacks_wheels(release.row, arch); });
    if (context.wants_fixes) found.fixes.push_back(without_package(context, package.name));
    out.push_back(std::move(found));
}

void judge(const Context& context, Findings& out) {
    const auto arch = arch_of(context);
    for (const auto& package : packages_of(context)) {
        if (!package.row || !package.row->has("abi")) continue;
        if (lacks_wheels(*package.row, arch)) {
            judge_package(context, package, arch, out);
            continue;
        }
        passed(context, [&] {
            return Acceptance{{},
                              kStage,
                              {Field::packages, Field::arch},
                              fmt::format("whether {} has a wheel for Linux on {}", package.text, arch),
                              {package.row->ref()}};
        });
    }
}

}  // namespace

Rule package_has_wheel() {
    return {
        .id = "package-has-wheel",
        .stage = kStage,
        .summary = "Each Python package has at least one wheel for the machine.",
        .why =
            "Where the index has no wheel at all, pip builds the source distribution: minutes to hours, and "
            "for CUDA extensions it needs nvcc, headers and torch itself in place (\"ModuleNotFoundError: "
            "No module named 'torch'\", \"CUDA_HOME environment variable is not set\"). Without a source "
            "distribution it ends with \"No matching distribution found\".",
        .fails = "packages: {flash-attn: 2.8.3}",
        .passes = "packages: {xformers: 0.0.28}",
        .reads = {Field::packages, Field::arch},
        .needs = {{Field::packages}},
        .judge = judge,
        .add_up = {Field::packages}};
}

}  // namespace cudamatrix::rules
