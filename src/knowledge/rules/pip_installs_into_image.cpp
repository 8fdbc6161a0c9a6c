// pip refuses to install into a python that the distribution manages (PEP 668), as newer images have.
#include "base/text.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

constexpr std::string_view kSwitch = "PIP_BREAK_SYSTEM_PACKAGES";

// An image whose python is managed.
struct Managed {
    std::string image;
    Row row;                 ///< says so: of its distribution, or of the image itself
    bool has_torch = false;  ///< the image brings torch, nothing has to install it
};

std::optional<Managed> managed(const Context& context) {
    if (const auto image = cuda_image(context)) {
        if (image->pinned) return std::nullopt;
        const auto os = lookup::os(context.facts, image->tag.os);
        if (!os || os->text("externally_managed") != "true") return std::nullopt;
        return Managed{image->text, *os, false};
    }
    const auto reference = image_reference(context.cell.text(Field::image));
    const auto repository = image_repository(context.facts, reference.repository);
    const auto tag = pytorch_tag(reference.tag);
    if (!repository || repository->text("scheme") != "pytorch" || !tag || reference.pinned)
        return std::nullopt;
    for (const auto& row : rows_with(context.facts, "pytorch_images", "torch", tag->release())) {
        if (row.text("externally_managed") == "true")
            return Managed{fmt::format("image {}:{}", reference.name, reference.tag), row, true};
    }
    return std::nullopt;
}

// The cell's variables with the switch among them.
std::string with_switch(const Context& context) {
    std::string out;
    if (const auto* env = context.cell.value(Field::env)) {
        for (const auto& [name, value] : env->items) {
            if (name != kSwitch) out += fmt::format("{}={},", name, value);
        }
    }
    return fmt::format("{}{}=1", out, kSwitch);
}

void judge_pip_installs_into_image(Ask& ask) {
    const auto image = managed(ask);
    if (!image) return;
    const auto value = member(ask, Field::env, kSwitch);
    if (value && (*value == "1" || *value == "true")) {
        ask.question({Field::image, Field::env},
                     fmt::format("whether pip may install into the python of {}", image->image));
        return ask.record_pass({image->row.ref()});
    }
    const bool packages = ask.cell.has(Field::packages);
    const bool torch = wants_torch(ask) && !image->has_torch;
    if (!packages && !torch) return;
    ask.question({Field::image, packages ? Field::packages : Field::torch}, {});
    ask.degrade(
           "{}: its python is managed by the distribution (PEP 668), so that a plain pip install "
           "of the cell's {} ends with \"error: externally-managed-environment\"; a virtual "
           "environment takes them",
           image->image,
           packages && torch ? "torch and packages"
           : packages        ? "packages"
                             : "torch")
        .because(image->row.ref())
        .fix(set_to(Field::env, with_switch(ask), fmt::format("env {}=1", kSwitch)));
}

}  // namespace

Rule pip_installs_into_image() {
    return {
        .id = "pip-installs-into-image",
        .stage = Stage::install,
        .summary = "pip may install into the python of the image.",
        .why =
            "Debian 12 and Ubuntu 24.04 mark their python as externally managed, and images built on them "
            "inherit the mark: pip stops at the first package. A virtual environment, "
            "--break-system-packages or the variable of that name get around it.",
        .fails = "image: \"nvidia/cuda:12.6.3-devel-ubuntu24.04\", torch: 2.6.0+cu126",
        .passes = "image: \"nvidia/cuda:12.6.3-devel-ubuntu22.04\", torch: 2.6.0+cu126",
        .reads = {Field::image, Field::family, Field::cuda, Field::os, Field::flavour, Field::cudnn,
                  Field::torch, Field::packages, Field::env},
        .needs = {{Field::image}, {Field::torch, Field::packages}},
        .judge = judge_pip_installs_into_image};
}

}  // namespace cudamatrix::rules
