// pytorch, ngc and cpu: images that bring their python, and the first two their torch.
#include "base/text.hpp"
#include "render/image/families.hpp"

namespace cudamatrix::family {
namespace {

// What such an image compiles with is the g++ of its distribution; which python, its tag or the build says.
std::string own_tools(Request& request) {
    auto& image = request.image;
    if (const auto wanted = request.text(Field::compiler); !wanted.empty()) {
        return fmt::format("compiler {}: family {} compiles with the g++ of its base", wanted, image.family);
    }
    image.compiler = "g++";
    image.package_manager = "apt";
    image.python_from = "base";
    image.python = minor_of(request.text(Field::python));
    return {};
}

// Tags of these images do not name the distribution: a cell that does has it checked in the build.
std::string named_os(Request& request) {
    auto& image = request.image;
    image.os = request.text(Field::os);
    const auto repository = lookup::family_repository(request.facts, image.family);
    const auto distribution = repository ? repository->text("distribution") : std::string_view();
    if (image.os.empty() || image.os.starts_with(distribution)) return {};
    return fmt::format("os {}: the images of family {} are built on {}", image.os, image.family,
                       distribution);
}

std::string find_pytorch(Request& request) {
    auto& image = request.image;
    if (!request.torch) return "family pytorch is an image of torch: the cell names no torch";
    const auto cuda = image.torch_cuda;
    const auto row = lookup::pytorch_image(request.facts, image.torch, cuda, image.flavour);
    const auto repository = repository_of(request.facts, image.family);
    if (!row) {
        return fmt::format("the facts know no image {} of torch {} with CUDA {}, flavour {}", repository,
                           image.torch, cuda, image.flavour);
    }
    if (request.cuda && request.cuda->exact.major_minor() != cuda) {
        return fmt::format("cuda {}: the image of torch {}+{} holds CUDA {}", image.cuda, image.torch,
                           image.torch_variant, cuda);
    }
    const auto tagged = [&](std::string_view flavour) {
        return repository + ":" + lookup::pytorch_tag_of(*row, cuda, flavour).text();
    };
    image.base_reference = tagged(image.flavour);
    if (auto refused = other_cudnn(request, image.base_reference, row->text("cudnn")); !refused.empty())
        return refused;
    image.torch_from_base = true;
    if (!request.cuda) return {};
    image.cuda_from = "base";
    if (image.flavour == "devel") return {};
    if (!lookup::pytorch_image(request.facts, image.torch, cuda, "devel"))
        return fmt::format("the facts know no image {}, which compiles the suite", tagged("devel"));
    image.devel_reference = tagged("devel");
    return {};
}

// The newest image that holds what the cell names.
std::string find_ngc(Request& request) {
    auto& image = request.image;
    const auto repository = repository_of(request.facts, image.family);
    if (request.text(Field::torch).find('+') != std::string::npos) {
        return fmt::format("torch {}: the images of family ngc hold NVIDIA's own build; write torch: {}",
                           request.text(Field::torch), image.torch);
    }
    const auto best =
        lookup::ngc_image(request.facts, {image.torch, image.cuda, minor_of(request.text(Field::python)),
                                          request.text(Field::os), image.arch});
    if (!best) {
        std::vector<std::string> asked;
        if (!image.torch.empty()) asked.push_back("torch " + image.torch);
        if (!image.cuda.empty()) asked.push_back("CUDA " + image.cuda);
        if (const auto python = request.text(Field::python); !python.empty())
            asked.push_back("python " + python);
        if (!image.os.empty()) asked.push_back(image.os);
        return fmt::format("the facts know no image {} with {}{}", repository, text::join(asked, ", "),
                           image.arch == "x86_64" ? "" : " for " + image.arch);
    }
    const std::string tag(best->text("tag"));
    image.base_reference = repository + ":" + tag;
    image.torch_from_base = !image.torch.empty();
    // NVIDIA's builds say so in their version: 2.10.0a0+b4e4ee81d3.nv25.12
    if (image.torch_from_base) image.torch_variant = "nv" + tag.substr(0, tag.find('-'));
    image.torch_cuda.clear();
    if (request.cuda) image.cuda_from = "base";
    return {};
}

std::string find_cpu(Request& request) {
    auto& image = request.image;
    if (!image.cuda.empty()) return fmt::format("cuda {}: family cpu has no toolkit", image.cuda);
    if (!image.torch.empty() && image.torch_variant != "cpu") {
        return fmt::format("torch {}+{}: family cpu installs builds without CUDA; write torch: {}+cpu",
                           image.torch, image.torch_variant, image.torch);
    }
    const auto os = request.text(Field::os);
    if (image.python.empty()) {
        const auto& wheel = request.torch ? request.torch->wheel : std::nullopt;
        for (const auto& row : request.facts.rows("python_images")) {
            const auto python = row.text("python");
            if ((os.empty() || row.text("os") == os) && (!wheel || holds(wheel->list("pythons"), python)))
                image.python = python;
        }
    }
    const auto row = lookup::python_image(request.facts, image.python, os);
    if (!row || !holds(row->list("arch"), image.arch)) {
        return fmt::format(
            "the facts know no image {}:MINOR-slim-SUITE{}{}", repository_of(request.facts, image.family),
            image.python.empty() ? "" : " with python " + image.python, os.empty() ? "" : " on " + os);
    }
    image.os = row->text("os");
    image.base_reference = fmt::format("{}:{}", repository_of(request.facts, image.family), row->text("tag"));
    return {};
}

}  // namespace

std::span<const Step> pytorch_steps() {
    static constexpr Step steps[] = {find_toolkit, find_torch,      own_tools,        named_os,
                                     find_pytorch, find_companions, find_constraints, find_environment};
    return steps;
}

std::span<const Step> ngc_steps() {
    static constexpr Step steps[] = {find_toolkit, find_torch,      own_tools,        named_os,
                                     find_ngc,     find_companions, find_constraints, find_environment};
    return steps;
}

std::span<const Step> cpu_steps() {
    static constexpr Step steps[] = {find_toolkit,     find_torch,      own_tools,        find_cpu,
                                     find_torch_index, find_companions, find_constraints, find_environment};
    return steps;
}

}  // namespace cudamatrix::family
