// Packages that install beside any torch and work with some only: with newer ones, or with those that they
// were compiled against. Their demand is no dependency, so that pip says nothing.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/rule.hpp"
#include "knowledge/rules/stand_ins.hpp"

namespace cudamatrix::rules {
namespace {

bool is_met(const Row& floor, const Version& torch) {
    if (floor.has("torch_none")) return false;
    const auto least = Version::parse(floor.text("torch_min"));
    const auto below = Version::parse(floor.text("torch_below"));
    return (!least || torch >= *least) && (!below || torch < *below);
}

// Is the row about that release of the package, and about that build of it? What the makers compiled
// (0.0.19+cu118) fits one torch, what the index has under that number may be built for any.
bool is_about(const Row& row, const Package& package) {
    if (!describes(row, package.name, *package.version)) return false;
    return !row.has("builds") || contains(row.list("builds"), pep440::local_of(package.text));
}

// And about that torch? Wheels for one torch may be broken, while for the next there are none and the
// package is built from its source.
bool is_about(const Row& row, const Package& package, const Version& torch) {
    if (!is_about(row, package)) return false;
    if (!row.has("torch_versions")) return true;
    const auto release = pep440::Version::parse(torch.text());
    return release && covers(row, "torch_versions", *release);
}

// "torch 2.5 and newer", "torch 2.5 and newer, below 2.6", "torch below 2.6", "no released torch".
std::string demand_text(const Row& floor) {
    if (floor.has("torch_none")) return "no released torch";
    if (!floor.has("torch_min")) return fmt::format("torch below {}", floor.text("torch_below"));
    return fmt::format("torch {} and newer{}", floor.text("torch_min"),
                       floor.has("torch_below") ? fmt::format(", below {}", floor.text("torch_below")) : "");
}

// The worst floor of that release that the torch is below: one may say where a part fails, another where all
// does.
std::optional<Row> unmet(const Facts& facts, const Package& package, const Version& torch) {
    std::optional<Row> worst;
    for (const auto& row : facts.rows("package_torch_floors")) {
        if (!is_about(row, package, torch) || is_met(row, torch)) continue;
        if (!worst || row.text("severity") == "error") worst = row;
    }
    return worst;
}

void judge_package(Ask& ask, const TorchBuild& build, const Package& package) {
    const auto& torch = build.torch.exact;
    const auto floor = unmet(ask.facts, package, torch);
    if (floor) {
        ask.question({Field::packages, Field::torch}, {}, floor->text("package"));
        ask.say(severity_in(*floor), fmt::format("{} works with {}; the cell has {}: {}", package.text,
                                                 demand_text(*floor), build.text, floor->text("consequence")))
            .because(floor->ref())
            .other(Field::torch)
            .other_release(package.name);
        return;
    }
    for (const auto& row : ask.facts.rows("package_torch_floors")) {
        if (!is_about(row, package, torch)) continue;
        ask.question({Field::packages, Field::torch}, [&] {
            return fmt::format("whether {}, which needs {}, works with {}", package.text, demand_text(row),
                               build.text);
        });
        ask.record_pass(row);
    }
}

bool has_floors(const Facts& facts, const Package& package) {
    const auto rows = facts.rows("package_torch_floors");
    return std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return is_about(row, package); });
}

void judge_in_image(Ask& ask, const ImageTorch& torch) {
    for (const auto& package : packages_of(ask)) {
        if (!package.version || !has_floors(ask.facts, package)) continue;
        ask.question(torch.about(ask, Field::packages),
                     fmt::format("whether {} works with it", package.text));
        judge_stand_ins(ask, torch,
                        [&](Ask& each, const TorchBuild& build) { judge_package(each, build, package); });
    }
}

void judge_package_supports_torch(Ask& ask) {
    if (const auto own = image_torch(ask)) return judge_in_image(ask, *own);
    if (!wants_torch(ask)) return;
    const auto build = if_known(torch_build(ask));
    if (!build || never_published(*build)) return;
    for (const auto& package : packages_of(ask)) {
        if (package.version) judge_package(ask, *build, package);
    }
}

}  // namespace

Rule package_supports_torch() {
    return {
        .id = "package-supports-torch",
        .stage = Stage::runtime,
        .summary = "The torch is one that each package works with, where pip would not say so.",
        .why =
            "transformers names its least torch in an extra that a plain install does not ask for, so that "
            "pip takes any torch. At import newer releases log \"Disabling PyTorch because PyTorch >= 2.2 is "
            "required\" and every model class raises that PyTorch was not found. torchcodec and torchtext "
            "are compiled against one torch and demand none: with another their libraries do not load, as "
            "those of autoawq, torchrl and old vllm do not, whose demand is open to newer ones.",
        .fails = "torch: 2.0.1, packages: {transformers: 4.53.0}",
        .passes = "torch: 2.6.0, packages: {transformers: 4.53.0}",
        .reads = {Field::packages, Field::torch, Field::arch, Field::image, Field::family, Field::cuda,
                  Field::python, Field::os},
        .needs = {{Field::packages}, {Field::torch, Field::image, Field::family}},
        .judge = judge_package_supports_torch,
        .monotone = {Field::packages, Field::torch},
        .apart = {Field::packages}};
}

}  // namespace cudamatrix::rules
