// Does each package run on the python, and has it a wheel for it? Free-threaded pythons (3.13t) have an ABI
// of their own, which abi3 wheels do not serve.
#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

struct Python {
    std::string_view text;  ///< as the cell or the fact writes it
    pep440::Version version;
    std::string abi;  ///< "312", "313t"
    std::uint64_t minor = 0;
    bool free_threaded = false;
};

std::optional<Python> python_of(std::string_view text) {
    const auto version = python_version(text);
    if (!version) return std::nullopt;
    const bool free_threaded = text.ends_with('t');
    return Python{text, *version,
                  fmt::format("{}{}{}", version->part(0), version->part(1), free_threaded ? "t" : ""),
                  version->part(1), free_threaded};
}

// The minor in `digits`, after the 3 of its major: 39 -> 9, 312t -> 12.
std::uint64_t minor_of(std::string_view digits) {
    std::uint64_t minor = 0;
    std::from_chars(digits.data() + 1, digits.data() + digits.size(), minor);
    return minor;
}

bool serves(std::string_view tag, const Python& python) {
    if (tag.starts_with("py")) return minor_of(tag.substr(2)) <= python.minor;
    const auto dash = tag.find('-');
    if (dash == tag.npos) return tag.substr(2) == python.abi;
    if (minor_of(tag.substr(2)) > python.minor) return false;
    return tag.substr(dash + 1) == (python.free_threaded ? "abi3t" : "abi3");
}

bool has_wheel(const Row& row, const Python& python, const Machine& machine) {
    const auto tags = wheel_tags(row, machine);
    return std::any_of(tags.begin(), tags.end(), [&](std::string_view tag) { return serves(tag, python); });
}

bool admits(const Row& row, const pep440::Version& python) {
    return !row.has("requires_python") || covers(row, "requires_python", python);
}

// "cp39", "cp39-abi3" and "py3" as people say them.
std::string named(std::string_view tag) {
    if (tag.starts_with("py")) return "any python 3";
    const auto minor = minor_of(tag.substr(2));
    if (tag.find('-') != tag.npos) return fmt::format("3.{} and later", minor);
    return fmt::format("3.{}{}", minor, tag.ends_with('t') ? "t" : "");
}

std::string wheels_text(const Row& row, const Machine& machine) {
    std::string out;
    for (const auto tag : wheel_tags(row, machine))
        out.append(out.empty() ? "it has them for " : ", ").append(named(tag));
    return out;
}

void judge_package(Ask& ask, const Package& package, const Python& python) {
    const auto machine = machine_of(ask);
    const auto on = machine.is_glibc() ? std::string(machine.arch) : machine.text;
    const auto& row = *package.row;
    ask.question({Field::packages, Field::python},
                 fmt::format("whether {} has a wheel for python {} on {}", package.text, python.text, on),
                 row.text("package"));
    const bool is_admitted = admits(row, python.version);
    if (is_admitted && (lacks_wheels(row, machine) || has_wheel(row, python, machine)))
        return ask.record_pass({row.ref()});
    const bool has_source = is_admitted && row.text("sdist") == "true";
    auto message = is_admitted ? fmt::format("{} has no wheel for python {} on {}: {}{}", package.text,
                                             python.text, on, wheels_text(row, machine),
                                             has_source ? ", and pip builds it from source" : "")
                               : fmt::format("{} needs python {}; the cell has python {}", package.text,
                                             row.text("requires_python"), python.text);
    auto answer = ask.say(has_source ? Severity::warning : Severity::error, std::move(message));
    answer.because(row.ref()).other_release(package.name).other(Field::python).without(package.name);
}

void judge(Ask& ask) {
    const auto text = ask.cell.text(Field::python);
    ask.question({Field::python, Field::packages}, "whether the packages have wheels for it");
    const auto python = python_of(text);
    if (!python) {
        ask.unknown(Field::python, "python {} names no minor release", text);
        return;
    }
    // packages-agree reports an unknown release.
    for (const auto& package : packages_of(ask)) {
        if (package.row) judge_package(ask, package, *python);
    }
}

}  // namespace

Rule package_supports_python() {
    return {
        .id = "package-supports-python",
        .stage = Stage::install,
        .summary = "Each Python package takes the cell's python and has a wheel for it.",
        .why =
            "pip skips releases whose Requires-Python excludes the interpreter and wheels of another ABI. "
            "What is left is \"No matching distribution found\", or a build from source that needs "
            "compilers and headers the image may not have.",
        .fails = "python: \"3.13\", packages: {triton: 2.3.1}",
        .passes = "python: \"3.12\", packages: {triton: 3.2.0}",
        .reads = {Field::packages, Field::python, Field::arch, Field::os},
        .needs = {{Field::packages}, {Field::python}},
        .judge = judge,
        .monotone = {Field::packages, Field::python}};
}

}  // namespace cudamatrix::rules
