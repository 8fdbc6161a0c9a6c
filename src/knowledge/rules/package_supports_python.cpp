// Does each package run on the python, and has it a wheel for it? The same of the packages that it demands,
// where the cell does not name them. Without a wheel pip builds from source, which needs a compiler.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/package_wheels.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// No wheel, and what pip makes of it.
Answer lacks_wheel(Ask& ask, const std::string& message, bool has_source) {
    if (!has_source) return ask.reject("{}", message);
    if (gets_image(ask.cell)) return ask.reject("{}; {}", message, kWheelsOnly);
    if (has_compilers(ask.cell)) {
        return ask.degrade("{}, and pip builds it from source{}", message,
                           ask.cell.has(Field::image) ? "" : kRenderRefuses);
    }
    return ask.reject("{}; pip would build it from source, and the cell names no compiler", message);
}

void judge_package(Ask& ask, const Package& package, const Python& python) {
    const auto machine = machine_of(ask);
    const auto on = on_system(machine);
    const auto& row = *package.row;
    ask.question({Field::packages, Field::python},
                 fmt::format("whether {} has a wheel for python {} on {}", package.text, python.text, on),
                 row.text("package"));
    const bool is_admitted = admits(row, python);
    if (is_admitted && lacks_wheels(row, machine)) {  // package-has-wheel says that there is none at all
        ask.affirm("{} admits python {}", package.text, python.text);
        return ask.record_pass({row.ref()});
    }
    if (is_admitted && has_wheel(row, python, machine)) return ask.record_pass({row.ref()});
    const auto message = is_admitted
                             ? fmt::format("{} has no wheel for python {} on {}: it has them for {}",
                                           package.text, python.text, on, pythons_with_wheels(row, machine))
                             : fmt::format("{} needs python {}; the cell has python {}", package.text,
                                           row.text("requires_python"), python.text);
    auto answer = lacks_wheel(ask, message, is_admitted && row.text("sdist") == "true");
    answer.because(row.ref()).other_release(package.name).other(Field::python).without(package.name);
}

// A package that the cell does not name, because another one demands it. False where it has no wheel.
bool judge_demanded(Ask& ask, const Package& package, const Demand& demand, const Python& python) {
    const auto machine = machine_of(ask);
    const auto known = ask.facts.package_releases(demand.name);
    // Where a newer release than all known ones may be taken, nothing follows from those.
    if (known.empty() || demand.specifiers().admits(known.back().version)) return true;
    ask.question(
        {Field::packages, Field::python},
        [&] {
            return fmt::format("whether a {} that {} takes has a wheel for python {} on {}", demand.name,
                               package.text, python.text, on_system(machine));
        },
        demand.text);
    std::optional<PackageRelease> newest;
    bool has_source = false, has_wheels = false;
    for (const auto& release : known) {
        const auto& row = release.row;
        if (!demand.specifiers().admits(release.version) || lookup::is_yanked(row)) continue;
        if (!row.has("abi") || !knows_wheels(row, machine)) return true;
        if (admits(row, python) && has_wheel(row, python, machine)) {
            ask.record_pass(row);
            return true;
        }
        has_wheels = has_wheels || (admits(row, python) && !lacks_wheels(row, machine));
        has_source = has_source || (admits(row, python) && row.text("sdist") == "true");
        newest = release;
    }
    // package-has-wheel says that there is a source only.
    if (!newest || (has_source && !has_wheels)) return true;
    const auto message = fmt::format(
        "{} needs {} {}, of which no release has a wheel for python {} on {}: the newest, {}, {}",
        package.text, demand.name, demand.clauses, python.text, on_system(machine), newest->version.text(),
        lacks_wheels(newest->row, machine) ? "has none"
                                           : "has them for " + pythons_with_wheels(newest->row, machine));
    lacks_wheel(ask, message, has_source)
        .because({package.row->ref(), newest->row.ref()})
        .other_release(package.name)
        .other(Field::python)
        .without(package.name);
    return false;
}

void judge_package_supports_python(Ask& ask) {
    const auto text = ask.cell.text(Field::python);
    ask.question({Field::python, Field::packages}, "whether the packages have wheels for it");
    const auto python = python_of(text);
    if (!python) {
        ask.unknown(Field::python, "python {} names no minor release", text);
        return;
    }
    // packages-agree reports an unknown release.
    const auto packages = packages_of(ask);
    const auto is_named = [&](std::string_view name) {
        return name == "torch" || std::any_of(packages.begin(), packages.end(),
                                              [&](const Package& package) { return package.name == name; });
    };
    for (const auto& package : packages) {
        if (!package.row) continue;
        judge_package(ask, package, *python);
        for (const auto& demand : demands_of(ask, *package.row)) {
            if (!is_named(demand.name) && !judge_demanded(ask, package, demand, *python)) break;
        }
    }
}

}  // namespace

Rule package_supports_python() {
    return {
        .id = "package-supports-python",
        .stage = Stage::install,
        .summary =
            "Each Python package takes the cell's python and has a wheel for it, and so have those that it "
            "demands.",
        .why =
            "pip skips releases whose Requires-Python excludes the interpreter and wheels of another ABI. "
            "What is left is \"No matching distribution found\", or a build from source that needs "
            "compilers and headers. The images that render writes install wheels only.",
        .fails = "python: \"3.13\", packages: {triton: 2.3.1}",
        .passes = "python: \"3.12\", packages: {triton: 3.2.0}",
        .reads = {Field::packages, Field::python, Field::arch, Field::os, Field::compiler, Field::flavour,
                  Field::image, Field::family},
        .needs = {{Field::packages}, {Field::python}},
        .judge = judge_package_supports_python,
        .monotone = {Field::packages, Field::python}};
}

}  // namespace cudamatrix::rules
