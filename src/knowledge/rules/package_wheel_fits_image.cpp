// Packages that install a wheel of their makers, compiled for a release of torch, into an image whose torch
// is built from the sources between two releases.
#include "base/text.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/rule.hpp"
#include "knowledge/rules/stand_ins.hpp"

namespace cudamatrix::rules {
namespace {

// The makers' wheels of a release, if there are any for the python and the machine of the image; a python
// that no fact names may be one of theirs.
std::optional<Row> wheels_of(const Context& context, const ImageTorch& torch, std::string_view package,
                             const pep440::Version& version) {
    const auto python = torch.row ? torch.row->text("python") : std::string_view{};
    for (const auto& row : context.facts.rows("package_makers_wheels")) {
        if (describes(row, package, version) && contains(row.list("arches"), arch_of(context)) &&
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
        if (describes(row, package, version) && contains(row.list("images"), torch.row->text("tag")))
            return row;
    }
    return std::nullopt;
}

// The torch that the wheel for the minor of the image's torch was compiled with; empty where there is none.
std::string_view compiled_with(const Row& wheels, const Version& torch) {
    const auto minor = torch.major_minor() + ".";
    for (const auto release : wheels.list("torch")) {
        if (release.starts_with(minor)) return release;
    }
    return {};
}

void judge_package(Ask& ask, const ImageTorch& torch, const Package& package) {
    const auto wheels = wheels_of(ask, torch, package.name, *package.version);
    if (!wheels) return;
    ask.question(torch.about(ask, Field::packages), fmt::format("whether {} can be imported", package.text),
                 package.name);
    if (!torch.release) {
        unknown_of(ask, torch, "which torch is in");
        return;
    }
    const auto compiled = compiled_with(*wheels, *torch.release);
    if (compiled.empty()) return;
    const auto row = known_in_image(ask, torch, package.name, *package.version);
    if (!row) {
        unknown_of(ask, torch,
                   fmt::format("whether the wheel of {} that its setup.py takes, compiled with torch {}, "
                               "fits that of",
                               package.text, compiled))
            .because(wheels->ref());
        return;
    }
    if (row->text("works") == "true") {
        ask.affirm("the wheel of {} that its setup.py takes fits {}", package.text, torch.text);
        return ask.record_pass({row->ref(), wheels->ref()});
    }
    auto answer = ask.reject(
        "the wheel of {} that its setup.py takes was compiled with torch {}, and does not fit {}: {}",
        package.text, compiled, torch.text, row->text("consequence"));
    answer.because(row->ref()).because(wheels->ref()).because(torch.facts());
    answer.other_release(package.name).without(package.name);
}

void judge_package_wheel_fits_image(Ask& ask) {
    const auto torch = image_torch(ask);
    if (!torch) return;
    for (const auto& package : packages_of(ask)) {
        if (package.version) judge_package(ask, *torch, package);
    }
}

}  // namespace

Rule package_wheel_fits_image() {
    return {
        .id = "package-wheel-fits-image",
        .stage = Stage::runtime,
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
        .judge = judge_package_wheel_fits_image};
}

}  // namespace cudamatrix::rules
