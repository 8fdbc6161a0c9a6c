#include "render/image/resolve_cell.hpp"

#include <algorithm>
#include <span>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "knowledge/facts/images.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/resolve/unpinned.hpp"
#include "render/image/families.hpp"
#include "render/image/image.hpp"

namespace cudamatrix {
namespace {

using family::Request;

constexpr std::string_view kArch = "x86_64";

// That of the host, where the GPU is sold with one only.
std::string arch_of(const Request& request) {
    if (request.cell.has(Field::arch)) return request.text(Field::arch);
    const auto implied = rules::implied_arch(request.facts, request.cell);
    return std::string(implied.empty() ? kArch : implied);
}

std::string repository_family(const Facts& facts, std::string_view image) {
    const auto row = lookup::image_repository(facts, lookup::image_reference(image).repository);
    return row && row->has("family") ? std::string(row->text("family")) : std::string(family::kDefault);
}

std::string names(std::span<const std::string_view> values) {
    const auto all = std::vector<std::string>(values.begin(), values.end());
    return all.size() == 1 ? all.front()
                           : text::join({all.begin(), all.end() - 1}, ", ") + " and " + all.back();
}

// Family, arch and flavour, and what the family does nothing for.
std::string begin(Request& request) {
    auto& image = request.image;
    if (const auto whole = request.text(Field::image); !whole.empty()) {
        return fmt::format("image {}: a whole reference is judged but not rendered; write family: {} instead",
                           whole, repository_family(request.facts, whole));
    }
    image.family =
        request.cell.has(Field::family) ? request.text(Field::family) : std::string(family::kDefault);
    request.family = family::named(image.family);
    if (request.family == nullptr) {
        return fmt::format("family {} is judged but not rendered; write family: {} instead", image.family,
                           family::kDefault);
    }
    const auto& made = *request.family;
    image.arch = arch_of(request);
    if (!family::holds(made.archs, image.arch))
        return fmt::format("arch {}: family {} is rendered for {}", image.arch, made.name, names(made.archs));
    image.flavour =
        request.cell.has(Field::flavour) ? request.text(Field::flavour) : std::string(made.flavours.front());
    if (!family::holds(made.flavours, image.flavour)) {
        return fmt::format("flavour {}: family {} has the flavour{} {}", image.flavour, made.name,
                           made.flavours.size() == 1 ? "" : "s", names(made.flavours));
    }
    for (const Field field : made.refused) {
        if (request.cell.has(field))
            return fmt::format("{}: family {} does not install it", info(field).name, made.name);
    }
    return {};
}

std::string short_hash(const std::vector<std::pair<std::string, std::string>>& pairs) {
    std::string all;
    for (const auto& [name, value] : pairs)
        all += fmt::format("{} {}\n", name, value);
    return sha256(all).substr(0, 8);
}

// The compiler that the image would get if no cell named one.
bool is_default_compiler(const Image& image, const Facts& facts) {
    if (!image.compiler.starts_with("g++-")) return true;
    const auto cuda = image.suite_cuda.empty() ? std::nullopt : lookup::cuda(facts, image.suite_cuda);
    return image.compiler ==
           fmt::format("g++-{}", family::default_gcc(facts, lookup::os(facts, image.os), cuda));
}

// What an image of a registry's family is called by before its torch and packages:
// "nvidia-cuda-ubuntu22.04-cu12.4.1".
std::string registry_id(const Image& image) {
    std::string id = image.family;
    if (!image.os.empty()) id += "-" + image.os;
    if (!image.cuda.empty()) id += "-cu" + image.cuda;
    const auto tag = image.base_reference.substr(image.base_reference.rfind(':') + 1);
    if (image.family == "ngc") id += "-" + tag.substr(0, tag.find('-'));
    if (tag.find("cudnn") != std::string::npos && image.family == "nvidia-cuda") id += "-cudnn";
    return id;
}

}  // namespace

std::variant<Image, std::string> resolve_cell(const Matrix& matrix, const Cell& cell, const Facts& facts,
                                              const Taken& taken) {
    Request request{matrix, cell, facts, nullptr, {}, {}, {}, {}, taken};
    if (auto reason = begin(request); !reason.empty()) return reason;
    for (const auto step : request.family->steps) {
        if (auto reason = step(request); !reason.empty()) return reason;
    }
    if (auto reason = family::find_numpy(request); !reason.empty()) return reason;
    if (!request.family->distribution) {
        if (auto reason = family::find_package_sources(request); !reason.empty()) return reason;
    }
    if (auto reason = family::find_indexes(request); !reason.empty()) return reason;
    if (auto reason = family::find_installer(request); !reason.empty()) return reason;
    if (auto reason = family::find_wheels(request); !reason.empty()) return reason;
    return std::move(request.image);
}

std::string template_folder(const Image& image) {
    return image.references().empty() ? "debian" : "registry";
}

// What the steps of the families look at and put into the image; what they only refuse is not here.
FieldSet image_fields() {
    return {Field::family, Field::arch,     Field::flavour, Field::cuda,      Field::torch, Field::packages,
            Field::os,     Field::compiler, Field::python,  Field::cuda_from, Field::env,   Field::cudnn};
}

std::string compute_of(const Cell& cell, const Facts& facts) {
    const auto* compute = cell.get(Field::compute);
    auto text = compute == nullptr ? "" : compute->text;
    if (text.empty() && cell.has(Field::gpu)) {
        const auto row = lookup::gpu(facts, cell.get(Field::gpu)->text);
        if (row) text = row->text("compute");
    }
    const auto version = Version::parse(text);
    return version ? version->major_minor() : "";
}

std::string image_id(const Image& image, const Facts& facts) {
    const auto* made = family::named(image.family);
    // The same on the official image and on a bootstrapped base.
    const bool distribution = made != nullptr && made->distribution;
    std::string id = distribution ? image.os : registry_id(image);
    if (distribution && !image.cuda.empty()) {
        id += "-cu" + image.cuda;
        // The source is part of the id where it is not the one that the release has by itself.
        const auto usual =
            lookup::toolkit_source(facts, image.family, image.os, *Version::parse(image.cuda), "");
        if (!usual || usual->id() != image.cuda_source) id += "_" + image.cuda_from;
    }
    if (!image.torch.empty()) id += fmt::format("-torch{}_{}", image.torch, image.torch_variant);
    // Other families have their choice of pythons, a distribution that of a standalone one.
    const bool says_python =
        !distribution || image.python_from == "standalone" || (image.torch.empty() && image.packages.empty());
    if (says_python && !image.python.empty()) id += "-py" + image.python;
    if (!is_default_compiler(image, facts)) id += "-gcc" + image.compiler.substr(4);
    if (made != nullptr && image.flavour != made->flavours.front()) id += "-" + image.flavour;
    if (image.arch != kArch) id += "-" + image.arch;
    if (!image.packages.empty()) id += "-pkg" + short_hash(image.packages);
    if (image.refuses_numpy) id += "-nonumpy";
    if (!image.env.empty()) id += "-env" + short_hash(image.env);
    return id;
}

std::string content_key(const Image& image) {
    std::string key = fmt::format("{} {} {} {} {} {} {} {} {} {}", image.family, image.os, image.arch,
                                  image.flavour, image.cuda, image.cuda_source, image.compiler, image.torch,
                                  image.torch_variant, image.python);
    for (const auto& reference : image.references())
        key += " " + reference;
    if (image.refuses_numpy) key += "\nnumpy none";
    for (const auto& [name, value] : image.packages)
        key += fmt::format("\n{} {}", name, value);
    key += "\n";
    for (const auto& [name, value] : image.env)
        key += fmt::format("\n{} {}", name, value);
    return key;
}

PackageRequests package_requests(const Image& image) {
    PackageRequests wanted;
    const bool dnf = image.package_manager == "dnf";
    wanted.devel.push_back(dnf ? "gcc-c++" : image.compiler);
    if (image.cuda_from == "archive") {
        // Unpacking a few packages compiles kernels; who ships the toolkit wants it whole.
        const bool whole =
            !image.compiles_beside() && (image.flavour == "devel" || image.cuda_unpack.empty());
        if (whole)
            wanted.devel.insert(wanted.devel.end(), image.cuda_packages.begin(), image.cuda_packages.end());
        if (!whole) wanted.toolkit = image.cuda_unpack;
        wanted.runtime = image.cuda_runtime;
        wanted.runtime.insert(wanted.runtime.end(), image.cuda_libraries.begin(), image.cuda_libraries.end());
    }
    const bool standalone = image.python_from == "standalone";
    if (image.cuda_from == "wheels") {
        wanted.cuda = image.cuda_pins;
        wanted.cuda.insert(wanted.cuda.end(), image.cuda_libraries.begin(), image.cuda_libraries.end());
    }
    // What fetches a toolkit of wheels, or a standalone python, where no registry has a base for that.
    if (image.base_reference.empty() && (image.cuda_from == "wheels" || standalone))
        wanted.python.emplace_back("python3-venv");
    const bool distribution = image.python_from == "distribution";
    if (distribution) wanted.runtime.emplace_back("python3");
    if (distribution && !dnf) wanted.runtime.emplace_back("python3-venv");
    // Not in every base of the family: it makes the user.
    if (dnf) wanted.runtime.emplace_back("shadow-utils");
    for (const auto& package : image.apt) {
        if (std::ranges::find(wanted.runtime, package) == wanted.runtime.end())
            wanted.runtime.push_back(package);
    }
    if (!image.torch.empty() && !image.torch_from_base) {
        wanted.wheels.push_back(image.torch_index_default
                                    ? "torch==" + image.torch
                                    : fmt::format("torch=={}+{}", image.torch, image.torch_variant));
    }
    if (!image.numpy.empty()) wanted.wheels.push_back("numpy==" + image.numpy);
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
