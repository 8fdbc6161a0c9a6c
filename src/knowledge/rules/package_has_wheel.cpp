// Packages of which the index serves a source distribution only, or nothing for the machine and its system.
// The same of what they demand, where the cell does not name it. package-supports-python asks about the
// python where there are wheels.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/package_wheels.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/resolve/source_only.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// "Linux on x86_64", "Windows": of a system other than Linux with glibc its row as well.
std::vector<FactRef> facts_of(const Row& row, const Machine& machine) {
    std::vector<FactRef> facts{row.ref()};
    if (machine.os) facts.push_back(machine.os->ref());
    return facts;
}

// Why the source of a release makes no working package on that system.
std::optional<Row> source_limit(const Facts& facts, std::string_view package, const pep440::Version& version,
                                const Machine& machine) {
    for (const auto& row : facts.rows("package_sources")) {
        if (row.text("package") == package && covers(row, "versions", version) &&
            contains(row.list("not_on"), machine.system))
            return row;
    }
    return std::nullopt;
}

// What pip makes of a release without a wheel.
Answer lacks(Ask& ask, const std::string& message, bool source, const std::optional<Row>& limit) {
    if (!source) return ask.reject("{}, and no source to build", message);
    if (limit) return ask.reject("{}, and its source is not for it: {}", message, limit->text("consequence"));
    if (gets_image(ask.cell)) return ask.reject("{}; {}", message, kWheelsOnly);
    return ask.degrade(
        "{}: pip builds it from its source, with compilers that must be there (of a CUDA extension nvcc, of "
        "torch's CUDA major) and the time that they take{}",
        message, ask.cell.has(Field::image) ? "" : kRenderRefuses);
}

void lacks(Ask& ask, const Package& package, const Machine& machine) {
    const auto& row = *package.row;
    const bool source = row.text("sdist") == "true";
    const auto limit = source && package.version
                           ? source_limit(ask.facts, package.name, *package.version, machine)
                           : std::nullopt;
    auto answer = lacks(ask, fmt::format("{} has no wheel on the index for {}", package.text, machine.text),
                        source, limit);
    answer.because(facts_of(row, machine)).because(limit);
    answer.accepted_release(package.name);
    if (!machine.is_glibc() && contains(row.list("platforms"), "linux")) answer.other(Field::os);
    answer.without(package.name);
}

// What it demands, and the cell does not name.
void judge_demanded(Ask& ask, const std::vector<Package>& packages, const Package& package,
                    const Machine& machine) {
    const auto found = source_only(ask, package.text, *package.row, [&](std::string_view name) {
        return std::any_of(packages.begin(), packages.end(),
                           [&](const Package& other) { return other.name == name; });
    });
    if (!found) return;
    const auto aspect = fmt::format("{} demands", package.name);
    ask.question({Field::packages, machine.field()},
                 fmt::format("whether what {} needs has wheels", package.text), aspect);
    const auto limit = source_limit(ask.facts, found->name, found->release.version, machine);
    lacks(ask,
          fmt::format("{}, of which no release has a wheel on the index for {}", found->chain, machine.text),
          true, limit)
        .because(found->facts)
        .because(limit)
        .other_release(package.name)
        .without(package.name);
}

// The makers' build of a release that the version names (0.4.30+cuda12.cudnn89), where there is none.
std::optional<Row> absent_build(const Facts& facts, const Package& package) {
    const auto local = pep440::local_of(package.text);
    if (local.empty() || !package.version) return std::nullopt;
    for (const auto& row : facts.rows("absent_package_builds")) {
        const auto builds = row.list("builds");
        if (describes(row, package.name, *package.version) &&
            std::any_of(builds.begin(), builds.end(), [&](std::string_view build) {
                return local == build || local.starts_with(fmt::format("{}.", build));
            }))
            return row;
    }
    return std::nullopt;
}

void judge_package_has_wheel(Ask& ask) {
    const auto machine = machine_of(ask);
    const auto packages = packages_of(ask);
    for (const auto& package : packages) {
        if (const auto absent = absent_build(ask.facts, package)) {
            ask.question({Field::packages}, {}, package.name);
            ask.reject("{} was never built: {}", package.text, absent->text("consequence"))
                .because(absent->ref())
                .accepted_release(package.name)
                .without(package.name);
            continue;
        }
        if (!package.row || !package.row->has("abi")) continue;
        const auto& row = *package.row;
        ask.question({Field::packages, machine.field()},
                     fmt::format("whether {} has a wheel for {}", package.text, machine.text),
                     row.text("package"));
        if (!knows_wheels(row, machine)) {
            ask.question({Field::packages, Field::os}, ask.text(), row.text("package"));
            ask.unknown(Field::packages,
                        "no fact lists the wheels of {} for other systems than Linux with glibc",
                        package.text);
        } else if (lacks_wheels(row, machine)) {
            lacks(ask, package, machine);
        } else {
            ask.record_pass(facts_of(row, machine));
        }
        judge_demanded(ask, packages, package, machine);
    }
}

}  // namespace

Rule package_has_wheel() {
    return {
        .id = "package-has-wheel",
        .stage = Stage::install,
        .summary = "Each Python package, and each that it demands, has at least one wheel for the machine.",
        .why =
            "Where the index has no wheel at all, pip builds the source distribution: minutes to hours, and "
            "for CUDA extensions it needs nvcc, headers and torch itself in place (\"ModuleNotFoundError: "
            "No module named 'torch'\", \"CUDA_HOME environment variable is not set\"). Without a source "
            "distribution it ends with \"No matching distribution found\". The images that render writes install "
            "wheels only.",
        .fails = "packages: {flash-attn: 2.8.3}",
        .passes = "packages: {xformers: 0.0.28}",
        .reads = {Field::packages, Field::arch, Field::os, Field::family, Field::flavour, Field::image,
                  Field::python},
        .needs = {{Field::packages}},
        .judge = judge_package_has_wheel,
        .monotone = {Field::packages}};
}

}  // namespace cudamatrix::rules
