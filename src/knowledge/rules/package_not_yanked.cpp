// Releases that their authors took back (PEP 592). The index keeps them for those who pinned exactly them, as
// a cell does: they install, and pip warns.
#include <algorithm>

#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// A build for one CUDA (0.15.0+cu118) is a file of another index, which was not asked.
bool is_of_default_index(const Package& package) {
    return package.field == Field::torch || package.text.find('+') == std::string::npos;
}

void judge_package_not_yanked(Ask& ask) {
    auto packages = packages_of(ask);
    if (auto torch = torch_package(ask)) packages.push_back(*std::move(torch));
    for (const auto& package : packages) {
        // An unknown release is said by packages-agree.
        if (!package.row || package.row->text("off_index") == "true" || !is_of_default_index(package))
            continue;
        const auto& row = *package.row;
        ask.question({package.field}, fmt::format("whether {} was yanked", package.text),
                     row.text("package"));
        if (!lookup::is_yanked(row)) {
            ask.affirm("{} was not yanked", package.text);
            ask.record_pass({row.ref()});
            continue;
        }
        const auto because = row.text("yanked_because");  // in the words of its author
        auto answer =
            ask.degrade(
                   "{} was yanked, its author took it back{}: pip installs it, with a warning, only where "
                   "exactly that release is pinned",
                   package.text, because.empty() ? "" : fmt::format(" (\"{}\")", because))
                .because(row.ref());
        const auto all = ask.facts.package_releases(package.name);
        const auto is_yanked = [](const auto& release) { return lookup::is_yanked(release.row); };
        if (package.field == Field::torch) {
            answer.other(Field::torch);
        } else if (std::all_of(all.begin(), all.end(), is_yanked)) {
            answer.without(package.name);
        } else {
            answer.other_release(package.name);
        }
    }
}

}  // namespace

Rule package_not_yanked() {
    return {
        .id = "package-not-yanked",
        .stage = Stage::install,
        .summary = "No Python package of the cell, nor its torch, is a release that its author took back.",
        .why =
            "Authors yank (PEP 592) what is broken: a wrong demand, a bug, a build that does not install. "
            "The "
            "index keeps such a release for those who pinned it before; pip takes it only for == or === of "
            "exactly that version and warns (\"The candidate selected for download or install is a yanked "
            "version\"), so nobody else gets, tests or fixes it.",
        .fails = "packages: {transformers: 4.57.0}",
        .passes = "packages: {transformers: 4.57.1}",
        .reads = {Field::packages, Field::torch, Field::arch, Field::image, Field::family, Field::cuda,
                  Field::python, Field::os},
        .needs = {{Field::packages, Field::torch}},
        .judge = judge_package_not_yanked,
        .monotone = {Field::packages, Field::torch},
        .apart = {Field::packages}};
}

}  // namespace cudamatrix::rules
