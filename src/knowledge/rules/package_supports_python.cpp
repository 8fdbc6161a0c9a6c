// Does each package run on the python, and has it a wheel for it? Free-threaded pythons (3.13t) have an ABI
// of their own, which abi3 wheels do not serve.
#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::install;

struct Python {
    std::string text;  ///< as the cell writes it
    pep440::Version version;
    std::string abi;  ///< "312", "313t"
    std::uint64_t minor = 0;
    bool free_threaded = false;
};

std::optional<Python> python_of(const Context& context) {
    const auto text = context.cell.text(Field::python);
    const auto version = python_version(text);
    if (!version) return std::nullopt;
    Python out{std::string(text), *version, {}, version->part(1), text.ends_with('t')};
    out.abi = fmt::format("{}{}{}", version->part(0), version->part(1), out.free_threaded ? "t" : "");
    return out;
}

// The number that `digits` begins with, behind the 3 of its major: 39 -> 9, 312t -> 12.
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

bool fits(const Row& row, const Python& python, const Machine& machine) {
    return knows_wheels(row, machine) && admits(row, python.version) && has_wheel(row, python, machine);
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

// The nearest known python, newer first, that the release serves.
std::vector<FixOption> python_options(const Context& context, const Row& row, const Python& python,
                                      const Machine& machine) {
    std::optional<FixOption> newer, older;
    if (!context.wants_fixes) return {};
    for (const auto& candidate : context.facts.rows("pythons")) {
        const auto text = candidate.text("python");
        const auto version = python_version(text);
        if (!version) continue;
        const Python other{std::string(text), *version,
                           fmt::format("{}{}", version->part(0), version->part(1)), version->part(1), false};
        if (!fits(row, other, machine)) continue;
        if (other.minor < python.minor) older = set_to(Field::python, text);
        // Of the same minor where the cell's is free-threaded.
        if (other.minor >= python.minor && !newer) newer = set_to(Field::python, text);
    }
    std::vector<FixOption> options;
    for (auto* option : {&newer, &older}) {
        if (*option) options.push_back(**option);
    }
    return options;
}

void judge_package(const Context& context, const Package& package, const Python& python, Findings& out) {
    const auto machine = machine_of(context);
    const auto on = machine.is_glibc() ? std::string(machine.arch) : machine.text;
    const auto& row = *package.row;
    std::optional<Finding> found;
    if (!admits(row, python.version)) {
        found = finding(Severity::error, kStage, row.text("package"), {Field::packages, Field::python},
                        fmt::format("{} needs python {}; the cell has python {}", package.text,
                                    row.text("requires_python"), python.text),
                        {row.ref()});
    } else if (!lacks_wheels(row, machine) && !has_wheel(row, python, machine)) {
        const bool source = row.text("sdist") == "true";
        found = finding(
            source ? Severity::warning : Severity::error, kStage, row.text("package"),
            {Field::packages, Field::python},
            fmt::format("{} has no wheel for python {} on {}: {}", package.text, python.text, on,
                        source ? fmt::format("{}, and pip builds it from source", wheels_text(row, machine))
                               : wheels_text(row, machine)),
            {row.ref()});
    }
    if (!found) {
        return passed(context, [&] {
            return Acceptance{
                {},
                kStage,
                {Field::packages, Field::python},
                fmt::format("whether {} has a wheel for python {} on {}", package.text, python.text, on),
                {row.ref()}};
        });
    }
    auto options = release_options(
        context, package, [&](const Release& release) { return fits(release.row, python, machine); });
    for (auto& option : python_options(context, row, python, machine))
        options.push_back(std::move(option));
    if (context.wants_fixes) options.push_back(without_package(context, package.name));
    found->fixes = std::move(options);
    out.push_back(*std::move(found));
}

void judge(const Context& context, Findings& out) {
    const auto python = python_of(context);
    if (!python) {
        const Unresolved gap{
            Field::python,
            fmt::format("python {} names no minor release", context.cell.text(Field::python)),
            {}};
        out.push_back(unknown(kStage, "", {Field::python, Field::packages}, gap,
                              "whether the packages have wheels for it"));
        return;
    }
    // An unknown release is said by packages-agree.
    for (const auto& package : packages_of(context)) {
        if (package.row) judge_package(context, package, *python, out);
    }
}

}  // namespace

Rule package_supports_python() {
    return {
        .id = "package-supports-python",
        .stage = kStage,
        .summary = "Each Python package takes the cell's python and has a wheel for it.",
        .why =
            "pip skips releases whose Requires-Python excludes the interpreter and wheels of another ABI. "
            "What is left is \"No matching distribution found\", or a build from source that needs "
            "compilers and headers the image may not have.",
        .fails = "python: \"3.13\", packages: {triton: 2.3.1}",
        .passes = "python: \"3.12\", packages: {triton: 3.2.0}",
        .reads = {Field::packages, Field::python, Field::arch, Field::os},
        .needs = {{Field::packages}, {Field::python}},
        .judge = plain(judge),
        .add_up = {Field::packages, Field::python}};
}

}  // namespace cudamatrix::rules
