// Packages that pip installs side by side and of which one does not find in the other what it imports. Their
// demands do not say so: packages-agree asks about those.
#include "base/text.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::runtime;

const Package* named(const std::vector<Package>& packages, std::string_view name) {
    for (const auto& package : packages) {
        if (package.name == name && package.version) return &package;
    }
    return nullptr;
}

// Whether a fact says that the two releases do not run together.
bool excluded(const Facts& facts, std::string_view package, const pep440::Version& version,
              std::string_view other, const pep440::Version& other_version) {
    for (const auto& row : facts.rows("package_pairs")) {
        if (row.text("package") == package && row.text("other") == other &&
            covers(row, "versions", version) && covers(row, "other_versions", other_version))
            return true;
    }
    return false;
}

void judge_pair(const Context& context, const Package& package, const Package& other, const Row& row,
                Findings& out) {
    auto found =
        finding(severity_in(row), kStage, row.id(), {Field::packages},
                fmt::format("{} does not run with {}: {}", package.text, other.text, row.text("consequence")),
                {row.ref()});
    const auto& facts = context.facts;
    for (auto& option : release_options(context, other, [&](const Release& release) {
             return !excluded(facts, package.name, *package.version, other.name, release.version);
         })) {
        found.fixes.push_back(std::move(option));
    }
    for (auto& option : release_options(context, package, [&](const Release& release) {
             return !excluded(facts, package.name, release.version, other.name, *other.version);
         })) {
        found.fixes.push_back(std::move(option));
    }
    if (context.wants_fixes) found.fixes.push_back(without_package(context, package.name));
    out.push_back(std::move(found));
}

void judge(const Context& context, Findings& out) {
    const auto packages = packages_of(context);
    for (const auto& row : context.facts.rows("package_pairs")) {
        const auto* package = named(packages, row.text("package"));
        const auto* other = named(packages, row.text("other"));
        if (package == nullptr || other == nullptr || !covers(row, "versions", *package->version)) continue;
        if (covers(row, "other_versions", *other->version)) {
            judge_pair(context, *package, *other, row, out);
            continue;
        }
        passed(context, [&] {
            return Acceptance{{},
                              kStage,
                              {Field::packages},
                              fmt::format("whether {} runs with {}", package->text, other->text),
                              {row.ref()}};
        });
    }
}

}  // namespace

Rule packages_run_together() {
    return {.id = "packages-run-together",
            .stage = kStage,
            .summary = "No two Python packages are known to break each other where their demands are silent.",
            .why =
                "A package may import a name that newer releases of another no longer have, and demand no "
                "version of it. pip installs both without a word, and the import ends with \"cannot import "
                "name\".",
            .fails = "packages: {diffusers: 0.21.4, huggingface-hub: 0.26.0}",
            .passes = "packages: {diffusers: 0.21.4, huggingface-hub: 0.25.2}",
            .reads = {Field::packages},
            .needs = {{Field::packages}},
            .judge = plain(judge),
            .add_up = {Field::packages}};
}

}  // namespace cudamatrix::rules
