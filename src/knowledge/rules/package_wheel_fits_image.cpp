// Packages that take a wheel of their makers, compiled for a release of torch, where they are installed into
// an image whose torch is a state of the sources between two releases.
#include "base/text.hpp"
#include "knowledge/resolve/image_torch.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/resolve/subject.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::runtime;

// The makers' wheels of a release, if there are any for the python and the machine of the image; a python
// that no fact names may be one of theirs.
std::optional<Row> wheels_of(const Context& context, const ImageTorch& torch, std::string_view package,
                             const pep440::Version& version) {
    const auto python = torch.row ? torch.row->text("python") : std::string_view{};
    for (const auto& row : context.facts.rows("package_makers_wheels")) {
        if (row.text("package") == package && covers(row, "versions", version) &&
            contains(row.list("arches"), arch_of(context)) &&
            (python.empty() || contains(row.list("pythons"), Version::parse(python)->major_minor())))
            return row;
    }
    return std::nullopt;
}

// What is known of them in the image.
std::optional<Row> known_in_image(const Context& context, const ImageTorch& torch, std::string_view package,
                                  const pep440::Version& version) {
    if (!torch.row) return std::nullopt;
    for (const auto& row : context.facts.rows("package_images")) {
        if (row.text("package") == package && covers(row, "versions", version) &&
            contains(row.list("images"), torch.row->text("tag")))
            return row;
    }
    return std::nullopt;
}

// What the wheel for the minor of the image's torch was compiled with; empty where there is none.
std::string_view compiled_with(const Row& wheels, const Version& torch) {
    const auto minor = torch.major_minor() + ".";
    for (const auto release : wheels.list("torch")) {
        if (release.starts_with(minor)) return release;
    }
    return {};
}

// Whether facts say that a release works in the image: by a wheel that fits, or because it is compiled there.
bool is_known_to_work(const Context& context, std::string_view package, const pep440::Version& version,
                      const ImageTorch& torch) {
    const auto wheels = wheels_of(context, torch, package, version);
    if (!wheels || compiled_with(*wheels, *torch.release).empty()) return true;
    const auto row = known_in_image(context, torch, package, version);
    return row && row->text("works") == "true";
}

Finding misfit(const Context& context, const ImageTorch& torch, const Package& package, const Row& wheels,
               const Row& row) {
    auto found = finding(
        Severity::error, kStage, package.name, torch.about(context, Field::packages),
        fmt::format(
            "the wheel of {} that its setup.py takes was compiled with torch {}, and does not fit {}: {}",
            package.text, compiled_with(wheels, *torch.release), torch.text, row.text("consequence")),
        {row.ref(), wheels.ref()});
    for (const auto& fact : torch.facts())
        found.facts.push_back(fact);
    if (context.wants_fixes) {
        found.fixes = release_options(context, package, [&](const Release& release) {
            return is_known_to_work(context, package.name, release.version, torch);
        });
        found.fixes.push_back(without_package(context, package.name));
    }
    return found;
}

void judge_package(const Context& context, const ImageTorch& torch, const Package& package, Findings& out) {
    const auto wheels = wheels_of(context, torch, package.name, *package.version);
    if (!wheels) return;
    const auto question = fmt::format("whether {} can be imported", package.text);
    if (!torch.release) {
        out.push_back(
            unknown_of(context, torch, kStage, package.name, Field::packages, "which torch is in", question));
        return;
    }
    const auto compiled = compiled_with(*wheels, *torch.release);
    if (compiled.empty()) return;
    const auto row = known_in_image(context, torch, package.name, *package.version);
    if (!row) {
        auto found = unknown_of(
            context, torch, kStage, package.name, Field::packages,
            fmt::format(
                "whether the wheel of {} that its setup.py takes, compiled with torch {}, fits that of",
                package.text, compiled),
            question);
        found.facts.push_back(wheels->ref());
        out.push_back(std::move(found));
        return;
    }
    if (row->text("works") != "true") {
        out.push_back(misfit(context, torch, package, *wheels, *row));
        return;
    }
    passed(context, [&] {
        return Acceptance{
            {}, kStage, torch.about(context, Field::packages), question, {row->ref(), wheels->ref()}};
    });
}

void judge(const Context& context, Findings& out) {
    const auto torch = image_torch(context);
    if (!torch) return;
    for (const auto& package : packages_of(context)) {
        if (package.version) judge_package(context, *torch, package, out);
    }
}

}  // namespace

Rule package_wheel_fits_image() {
    return {
        .id = "package-wheel-fits-image",
        .stage = kStage,
        .summary =
            "A package that takes its makers' wheel finds in NVIDIA's image the torch that it was compiled "
            "with.",
        .why =
            "The setup.py of flash-attn, causal-conv1d and mamba-ssm looks for a wheel of its makers by the "
            "minor release of torch alone. The torch in images of NVIDIA's own is a state of the sources on "
            "the way to that release, so that the wheel installs, and its import may end with \"undefined "
            "symbol\".",
        .fails = "image: \"nvcr.io/nvidia/pytorch:23.11-py3\", packages: {flash-attn: 2.3.6}",
        .passes = "image: \"nvcr.io/nvidia/pytorch:23.12-py3\", packages: {flash-attn: 2.5.1.post1}",
        .reads = {Field::packages, Field::torch, Field::arch, Field::image, Field::family, Field::cuda,
                  Field::python, Field::os},
        .needs = {{Field::packages}},
        .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
