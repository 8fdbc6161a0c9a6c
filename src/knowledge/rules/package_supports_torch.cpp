// Packages that install beside any torch and work with some only: with newer ones, or with those that they
// were compiled against. Their demand is no dependency, so that pip says nothing.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/image_torch.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::runtime;

bool is_met(const Row& floor, const Version& torch) {
    const auto below = Version::parse(floor.text("torch_below"));
    return torch >= lookup::required_version(floor, "torch_min") && (!below || torch < *below);
}

// Is the row about that release of the package, and about that torch? Wheels for one torch may be broken,
// while for the next there are none and the package is built from its source.
bool is_about(const Row& row, std::string_view package, const pep440::Version& version,
              const Version& torch) {
    if (row.text("package") != package || !covers(row, "versions", version)) return false;
    if (!row.has("torch_versions")) return true;
    const auto release = pep440::Version::parse(torch.text());
    return release && covers(row, "torch_versions", *release);
}

// "torch 2.5 and newer", "torch 2.5 and newer, below 2.6".
std::string demand_text(const Row& floor) {
    return fmt::format("torch {} and newer{}", floor.text("torch_min"),
                       floor.has("torch_below") ? fmt::format(", below {}", floor.text("torch_below")) : "");
}

// The worst floor of that release that the torch is below: one may say where a part fails, another where all
// does.
std::optional<Row> unmet(const Facts& facts, std::string_view package, const pep440::Version& version,
                         const Version& torch) {
    std::optional<Row> worst;
    for (const auto& row : facts.rows("package_torch_floors")) {
        if (!is_about(row, package, version, torch) || is_met(row, torch)) continue;
        if (!worst || row.text("severity") == "error") worst = row;
    }
    return worst;
}

std::optional<FixOption> fitting_torch(const Context& context, const Package& package) {
    for (const auto& row : context.facts.rows("torch_releases")) {
        const auto torch = lookup::required_version(row, "torch");
        if (!unmet(context.facts, package.name, *package.version, torch))
            return set_to(Field::torch, torch.text());
    }
    return std::nullopt;
}

void judge_package(const Context& context, const TorchBuild& build, const Package& package, Findings& out) {
    const auto floor = unmet(context.facts, package.name, *package.version, build.torch.exact);
    if (!floor) {
        for (const auto& row : context.facts.rows("package_torch_floors")) {
            if (!is_about(row, package.name, *package.version, build.torch.exact)) continue;
            passed(context, [&] {
                return Acceptance{{},
                                  kStage,
                                  {Field::packages, Field::torch},
                                  fmt::format("whether {}, which needs {}, works with {}", package.text,
                                              demand_text(row), build.text),
                                  {row.ref()}};
            });
        }
        return;
    }
    const bool is_error = floor->text("severity") == "error";
    auto found = finding(is_error ? Severity::error : Severity::warning, kStage, floor->text("package"),
                         {Field::packages, Field::torch},
                         fmt::format("{} works with {}; the cell has {}: {}", package.text,
                                     demand_text(*floor), build.text, floor->text("consequence")),
                         {floor->ref()});
    if (context.wants_fixes) {
        if (auto torch = fitting_torch(context, package)) found.fixes.push_back(*std::move(torch));
        for (auto& option : release_options(context, package, [&](const Release& release) {
                 return !unmet(context.facts, package.name, release.version, build.torch.exact);
             }))
            found.fixes.push_back(std::move(option));
    }
    out.push_back(std::move(found));
}

bool has_floors(const Facts& facts, const Package& package) {
    const auto rows = facts.rows("package_torch_floors");
    return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
        return row.text("package") == package.name && covers(row, "versions", *package.version);
    });
}

void judge(const Context& context, Findings& out) {
    if (!wants_torch(context)) return;
    if (const auto own = image_torch(context)) {
        for (const auto& package : packages_of(context)) {
            if (!package.version) continue;
            const auto judge_one = [&](const Context& other, const TorchBuild& build, Findings& found) {
                judge_package(other, build, package, found);
            };
            if (has_floors(context.facts, package))
                judge_image_torch(context, *own, kStage, Field::packages,
                                  fmt::format("whether {} works with it", package.text), judge_one, out);
        }
        return;
    }
    const auto resolved = torch_build(context);
    const auto* build = std::get_if<TorchBuild>(&resolved);
    if (build == nullptr || never_published(*build)) return;
    for (const auto& package : packages_of(context)) {
        if (package.version) judge_package(context, *build, package, out);
    }
}

}  // namespace

Rule package_supports_torch() {
    return {
        .id = "package-supports-torch",
        .stage = kStage,
        .summary = "The torch is one that each package works with, where pip would not say so.",
        .why =
            "transformers names its least torch in an extra that a plain install does not ask for, so that "
            "pip takes any torch. At import newer releases log \"Disabling PyTorch because PyTorch >= 2.2 is "
            "required\" and every model class raises that PyTorch was not found. torchcodec and torchtext "
            "are "
            "compiled against one torch and demand none: with another their libraries do not load.",
        .fails = "torch: 2.0.1, packages: {transformers: 4.53.0}",
        .passes = "torch: 2.6.0, packages: {transformers: 4.53.0}",
        .reads = {Field::packages, Field::torch, Field::arch, Field::image, Field::family, Field::cuda,
                  Field::python, Field::os},
        .needs = {{Field::packages}, {Field::torch}},
        .judge = plain(judge),
        .add_up = {Field::packages, Field::torch}};
}

}  // namespace cudamatrix::rules
