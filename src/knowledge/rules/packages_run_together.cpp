// Packages that pip installs side by side and of which one does not find in the other what it imports. Their
// demands do not say so: packages-agree asks about those.
#include "base/text.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

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

void judge_pair(Ask& ask, const Package& package, const Package& other, const Row& row) {
    ask.question({Field::packages}, fmt::format("whether {} runs with {}", package.text, other.text),
                 row.id());
    if (!covers(row, "other_versions", *other.version)) return ask.record_pass({row.ref()});
    auto answer = ask.say(severity_in(row), fmt::format("{} does not run with {}: {}", package.text,
                                                        other.text, row.text("consequence")));
    answer.because(row.ref())
        .fix(release_options(ask, other,
                             [&](const Release& release) {
                                 return !excluded(ask.facts, package.name, *package.version, other.name,
                                                  release.version);
                             }))
        .fix(release_options(ask, package, [&](const Release& release) {
            return !excluded(ask.facts, package.name, release.version, other.name, *other.version);
        }));
    if (ask.wants_fixes) answer.fix(without_package(ask, package.name));
}

void judge(Ask& ask) {
    const auto packages = packages_of(ask);
    for (const auto& row : ask.facts.rows("package_pairs")) {
        const auto* package = named(packages, row.text("package"));
        const auto* other = named(packages, row.text("other"));
        if (package != nullptr && other != nullptr && covers(row, "versions", *package->version))
            judge_pair(ask, *package, *other, row);
    }
}

}  // namespace

Rule packages_run_together() {
    return {.id = "packages-run-together",
            .stage = Stage::runtime,
            .summary = "No two Python packages are known to break each other where their demands are silent.",
            .why =
                "A package may import a name that newer releases of another no longer have, and demand no "
                "version of it. pip installs both without a word, and the import ends with \"cannot import "
                "name\".",
            .fails = "packages: {diffusers: 0.21.4, huggingface-hub: 0.26.0}",
            .passes = "packages: {diffusers: 0.21.4, huggingface-hub: 0.25.2}",
            .reads = {Field::packages},
            .needs = {{Field::packages}},
            .judge = judge,
            .monotone = {Field::packages}};
}

}  // namespace cudamatrix::rules
