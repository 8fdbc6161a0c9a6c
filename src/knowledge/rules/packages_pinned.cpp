// Packages whose version is `any`: pip decides on the day of the build. The other rules judge the release
// that it would take today.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/resolve/unpinned.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// The day on which the newest of its rows was looked up.
std::string known_on(const Facts& facts, std::string_view package) {
    std::string day;
    for (const auto& release : facts.package_releases(package))
        day = std::max(day, release.row.ref().as_of);
    return day;
}

void nothing_fits(Ask& ask, const Unpinned& package) {
    if (package.field != Field::packages)
        ask.question({Field::packages, package.field}, ask.text(), package.name);
    auto answer = ask.reject("{} any: pip finds no release that fits ({})", package.name, package.obstacle);
    answer.because(package.facts);
    if (package.field == Field::python || package.field == Field::os) answer.other(package.field);
    if (package.field == Field::torch) answer.accepted_other(Field::torch);
    answer.without(package.name);
}

void judge_packages_pinned(Ask& ask) {
    const auto written = ask.cell.as_written();
    for (const auto& package : unpinned(ask.on(written))) {
        const auto& name = package.name;
        ask.question({Field::packages}, fmt::format("which release of {} pip would take", name), name);
        if (package.release) {
            const auto& [text, version, row] = *package.release;
            ask.degrade(
                   "{} any is not pinned: pip would take {} of the releases known on {}, and others later",
                   name, text, known_on(ask.facts, name))
                .because(row.ref())
                .fix(with_package(ask, name, text));
        } else if (!package.is_known) {
            ask.unknown_as(
                   "no fact knows {}: which release pip would take is unknown; `cudamatrix check --look` "
                   "looks into its wheels",
                   name)
                .without(name);
        } else if (!package.obstacle.empty()) {
            nothing_fits(ask, package);
        } else {
            ask.unknown(Field::packages, "too many releases of {} and the other packages without a pin", name)
                .without(name);
        }
    }
}

}  // namespace

Rule packages_pinned() {
    return {
        .id = "packages-pinned",
        .stage = Stage::install,
        .summary = "Each Python package has its version written, and none is left to pip.",
        .why =
            "Of a package without a pin pip takes the newest release that fits on the day of the build: the "
            "same file gives another image tomorrow. Here such a package is judged as the release that the "
            "facts would have pip take today.",
        .fails = "python: \"3.12\", packages: {transformers: any}",
        .passes = "python: \"3.12\", packages: {transformers: 5.23.0}",
        .reads = kReadByUnpinned,
        .needs = {{Field::packages}},
        .judge = judge_packages_pinned};
}

}  // namespace cudamatrix::rules
