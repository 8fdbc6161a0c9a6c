#include "render/image/wanted.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cudamatrix {
Wanted wanted_of(const Image& image) {
    Wanted wanted;
    const bool dnf = image.package_manager == "dnf";
    wanted.devel.push_back(dnf ? "gcc-c++" : image.compiler);
    if (image.cuda_from == "archive") {
        // Unpacking a few packages compiles kernels; who ships the toolkit wants it whole.
        const bool whole = image.flavour == "devel" || image.cuda_unpack.empty();
        if (whole)
            wanted.devel.insert(wanted.devel.end(), image.cuda_packages.begin(), image.cuda_packages.end());
        if (!whole) wanted.toolkit = image.cuda_unpack;
        wanted.runtime = image.cuda_runtime;
    }
    const bool standalone = image.python_from == "standalone";
    if (image.cuda_from == "wheels") wanted.cuda = image.cuda_pins;
    // What fetches a toolkit of wheels, or a standalone python where no registry has a base for that.
    if (image.cuda_from == "wheels" || (standalone && image.base_reference.empty()))
        wanted.python.emplace_back("python3-venv");
    const bool distribution = image.python_from == "distribution";
    if (distribution) wanted.runtime.emplace_back("python3");
    if (distribution && !dnf) wanted.runtime.emplace_back("python3-venv");
    // Not in every base of the family: it makes the user.
    if (dnf) wanted.runtime.emplace_back("shadow-utils");
    for (const auto& package : image.apt) {
        if (std::find(wanted.runtime.begin(), wanted.runtime.end(), package) == wanted.runtime.end())
            wanted.runtime.push_back(package);
    }
    if (!image.torch.empty() && !image.torch_from_base) {
        wanted.wheels.push_back(image.torch_index_default
                                    ? "torch==" + image.torch
                                    : fmt::format("torch=={}+{}", image.torch, image.torch_variant));
    }
    for (const auto& [name, version] : image.packages)
        wanted.wheels.push_back(name + "==" + version);
    if (!wanted.wheels.empty() || standalone) wanted.installer.push_back(image.installer);
    return wanted;
}

std::vector<std::string> pip_options(const Image& image) {
    std::vector<std::string> options;
    const auto& [python, nvidia, builds] = image.indexes;
    if (!python.empty()) options.insert(options.end(), {"--index-url", python});
    if (!nvidia.empty() && !image.cuda_pins.empty())
        options.insert(options.end(), {"--extra-index-url", nvidia});
    if (!image.torch_index.empty()) options.insert(options.end(), {"--extra-index-url", image.torch_index});
    return options;
}

}  // namespace cudamatrix
