#include "render/wanted.hpp"

#include "base/text.hpp"

namespace cudamatrix {
namespace {

constexpr std::string_view kInstaller = "uv==0.13.8";

}  // namespace

Wanted wanted_of(const Image& image) {
    Wanted wanted;
    wanted.devel.push_back(image.compiler);
    if (image.cuda_from == "archive") {
        // Unpacking a few packages compiles kernels; who ships the toolkit wants it whole.
        const bool whole = image.flavour == "devel" || image.cuda_unpack.empty();
        if (whole)
            wanted.devel.insert(wanted.devel.end(), image.cuda_packages.begin(), image.cuda_packages.end());
        if (!whole) wanted.toolkit = image.cuda_unpack;
        wanted.runtime = image.cuda_runtime;
    }
    if (image.cuda_from == "wheels") {
        wanted.python.push_back("python3-venv");
        wanted.cuda = image.cuda_pins;
    }
    if (!image.python.empty()) wanted.runtime.insert(wanted.runtime.end(), {"python3", "python3-venv"});
    if (!image.torch.empty()) {
        wanted.wheels.push_back(image.torch_index_default
                                    ? "torch==" + image.torch
                                    : fmt::format("torch=={}+{}", image.torch, image.torch_variant));
    }
    for (const auto& [name, version] : image.packages)
        wanted.wheels.push_back(name + "==" + version);
    if (!wanted.wheels.empty()) wanted.installer.emplace_back(kInstaller);
    return wanted;
}

std::vector<std::string> pip_options(const Image& image, const Mirrors& mirrors) {
    std::vector<std::string> options;
    for (const auto& [from, to] : mirrors) {
        if (from == "pypi") options.insert(options.end(), {"--index-url", to});
        if (from == "nvidia-pypi" && !image.cuda_pins.empty())
            options.insert(options.end(), {"--extra-index-url", to});
    }
    if (!image.torch_index.empty()) options.insert(options.end(), {"--extra-index-url", image.torch_index});
    return options;
}

}  // namespace cudamatrix
