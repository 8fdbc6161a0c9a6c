// Packages of which the index serves a source distribution only, or nothing for the machine and its system.
// package-supports-python asks about the python where there are wheels.
#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/package_wheels.hpp"
#include "knowledge/resolve/packages.hpp"
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
std::optional<Row> source_limit(const Facts& facts, const Package& package, const Machine& machine) {
    for (const auto& row : facts.rows("package_sources")) {
        if (row.text("package") == package.name && package.version &&
            covers(row, "versions", *package.version) && contains(row.list("not_on"), machine.system))
            return row;
    }
    return std::nullopt;
}

void lacks(Ask& ask, const Package& package, const Machine& machine) {
    const auto& row = *package.row;
    const bool source = row.text("sdist") == "true";
    const auto limit = source ? source_limit(ask.facts, package, machine) : std::nullopt;
    const bool wheels_only = gets_image(ask.cell);
    std::string rest = ", and no source to build";
    if (limit) {
        rest = fmt::format(", and its source is not for it: {}", limit->text("consequence"));
    } else if (source && wheels_only) {
        rest = fmt::format("; {}", kWheelsOnly);
    } else if (source) {
        rest =
            ": pip builds it from its source, with compilers that must be there (of a CUDA extension nvcc, "
            "of torch's CUDA major) and the time that they take";
        if (!ask.cell.has(Field::image)) rest += kRenderRefuses;
    }
    auto answer =
        ask.say(source && !limit && !wheels_only ? Severity::warning : Severity::error,
                fmt::format("{} has no wheel on the index for {}{}", package.text, machine.text, rest));
    answer.because(facts_of(row, machine)).because(limit);
    answer.accepted_release(package.name);
    if (!machine.is_glibc() && contains(row.list("platforms"), "linux")) answer.other(Field::os);
    answer.without(package.name);
}

void judge(Ask& ask) {
    const auto machine = machine_of(ask);
    for (const auto& package : packages_of(ask)) {
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
    }
}

}  // namespace

Rule package_has_wheel() {
    return {
        .id = "package-has-wheel",
        .stage = Stage::install,
        .summary = "Each Python package has at least one wheel for the machine.",
        .why =
            "Where the index has no wheel at all, pip builds the source distribution: minutes to hours, and "
            "for CUDA extensions it needs nvcc, headers and torch itself in place (\"ModuleNotFoundError: "
            "No module named 'torch'\", \"CUDA_HOME environment variable is not set\"). Without a source "
            "distribution it ends with \"No matching distribution found\". The images that render writes install "
            "wheels only.",
        .fails = "packages: {flash-attn: 2.8.3}",
        .passes = "packages: {xformers: 0.0.28}",
        .reads = {Field::packages, Field::arch, Field::os, Field::family, Field::flavour, Field::image},
        .needs = {{Field::packages}},
        .judge = judge,
        .monotone = {Field::packages}};
}

}  // namespace cudamatrix::rules
