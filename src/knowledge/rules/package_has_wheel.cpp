// Packages of which the index serves a source distribution only, or nothing for the machine and its system.
// package-supports-python asks about the python where there are wheels.
#include "base/text.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/resolve/wheel_os.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::install;

// "Linux on x86_64", "Windows": of a system other than Linux with glibc its row as well.
std::vector<FactRef> facts_of(const Row& row, const Machine& machine) {
    std::vector<FactRef> facts{row.ref()};
    if (machine.os) facts.push_back(machine.os->ref());
    return facts;
}

// Why the source of a release makes no working package on that system.
std::optional<Row> source_limit(const Facts& facts, const Package& package, const Machine& machine) {
    for (const auto& row : facts.rows("package_sources")) {
        if (row.text("package") == package.name && package.version &&
            covers(row, "versions", *package.version) && contains(row.list("not_on"), machine.system))
            return row;
    }
    return std::nullopt;
}

void judge_package(const Context& context, const Package& package, const Machine& machine, Findings& out) {
    const auto& row = *package.row;
    const bool source = row.text("sdist") == "true";
    const auto limit = source ? source_limit(context.facts, package, machine) : std::nullopt;
    auto facts = facts_of(row, machine);
    std::string rest = ", and no source to build";
    if (limit) {
        facts.push_back(limit->ref());
        rest = fmt::format(", and its source is not for it: {}", limit->text("consequence"));
    } else if (source) {
        rest =
            ": pip builds it from its source, with compilers that must be there (of a CUDA extension nvcc, "
            "of "
            "torch's CUDA major) and the time that they take";
    }
    auto found =
        finding(source && !limit ? Severity::warning : Severity::error, kStage, row.text("package"),
                {Field::packages, machine.field()},
                fmt::format("{} has no wheel on the index for {}{}", package.text, machine.text, rest),
                std::move(facts));
    found.fixes = release_options(
        context, package, [&](const Release& release) { return !lacks_wheels(release.row, machine); });
    if (!machine.is_glibc() && contains(row.list("platforms"), "linux")) offer_linux(context, found);
    if (context.wants_fixes) found.fixes.push_back(without_package(context, package.name));
    out.push_back(std::move(found));
}

void judge(const Context& context, Findings& out) {
    const auto machine = machine_of(context);
    for (const auto& package : packages_of(context)) {
        if (!package.row || !package.row->has("abi")) continue;
        const auto question = [&] {
            return fmt::format("whether {} has a wheel for {}", package.text, machine.text);
        };
        if (!knows_wheels(*package.row, machine)) {
            const Unresolved gap{
                Field::packages,
                fmt::format("no fact lists the wheels of {} for other systems than Linux with glibc",
                            package.text),
                {}};
            out.push_back(
                unknown(kStage, package.row->text("package"), {Field::packages, Field::os}, gap, question()));
            continue;
        }
        if (lacks_wheels(*package.row, machine)) {
            judge_package(context, package, machine, out);
            continue;
        }
        passed(context, [&] {
            return Acceptance{
                {}, kStage, {Field::packages, machine.field()}, question(), facts_of(*package.row, machine)};
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
        .reads = {Field::packages, Field::arch, Field::os},
        .needs = {{Field::packages}},
        .judge = plain(judge),
        .add_up = {Field::packages}};
}

}  // namespace cudamatrix::rules
