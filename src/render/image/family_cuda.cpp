// nvidia-cuda: NVIDIA's images of a toolkit on Ubuntu and Rocky Linux; the devel tag of the same release
// compiles the suite where the image itself has no compiler.
#include <algorithm>

#include "base/text.hpp"
#include "render/image/families.hpp"

namespace cudamatrix::family {
namespace {

constexpr std::string_view kName = "nvidia-cuda";

// Distributions that images can be rendered on, of which NVIDIA has tags.
std::vector<Row> distributions(const Facts& facts) {
    std::vector<Row> out;
    for (const auto& os : facts.rows("operating_systems")) {
        const auto tags = facts.rows("cuda_images");
        const bool tagged = std::any_of(tags.begin(), tags.end(), [&](const Row& row) {
            return row.text("status") != "deleted" && holds(row.list("os"), os.text("os"));
        });
        if (os.has("package_manager") && tagged) out.push_back(os);
    }
    return out;
}

std::string refusal_of(const Request& request, const lookup::CudaTag& tag) {
    const auto name = fmt::format("{}:{}", repository_of(request.facts, kName), tag.text());
    const auto release = lookup::cuda_release_images(request.facts, tag.cuda);
    const auto row = lookup::cuda_image_row(release, tag);
    const bool deleted = row ? row->text("status") == "deleted"
                             : !release.rows.empty() && release.rows.front().text("status") == "deleted" &&
                                   !release.rows.front().has("os");
    if (deleted) return fmt::format("the image {} was deleted", name);
    if (!row) return fmt::format("the facts know no image {}", name);
    const auto archs = row->list("arch");
    if (row->has("arch") ? holds(archs, request.image.arch) : request.image.arch == "x86_64") return {};
    if (!row->has("arch"))
        return fmt::format("no fact says that {} is built for {}", name, request.image.arch);
    return fmt::format("the image {} is not built for {}: it is for {}", name, request.image.arch,
                       text::join(std::vector<std::string>(archs.begin(), archs.end()), ", "));
}

lookup::CudaTag tag_on(const Request& request, std::string_view os, std::string_view flavour) {
    return lookup::family_cuda_tag(request.facts, request.cuda->exact.text(), os, flavour,
                                   request.cell.has(Field::cudnn));
}

std::string find_os(Request& request) {
    if (!request.cuda)
        return fmt::format("family {} is an image of a toolkit: the cell names no cuda", kName);
    if (const auto from = request.text(Field::cuda_from); !from.empty())
        return fmt::format("cuda_from {}: the images of family {} bring the toolkit", from, kName);
    const auto wanted = request.text(Field::os);
    const auto python = minor_of(request.text(Field::python));
    std::vector<std::string> names;
    std::optional<Row> best;
    for (const auto& os : distributions(request.facts)) {
        const auto name = os.text("os");
        names.emplace_back(name);
        if (!wanted.empty() ? name != wanted
                            : !refusal_of(request, tag_on(request, name, request.image.flavour)).empty())
            continue;
        if (best && has_compiler(request, *best) && !has_compiler(request, os)) continue;
        // The newest, but rather one whose own python is the cell's.
        if (!best || python.empty() || os.text("python") == python || best->text("python") != python)
            best = os;
    }
    if (!best && wanted.empty()) {
        return fmt::format("the facts know no image of CUDA {} with flavour {} ({} were tried)",
                           request.image.cuda, request.image.flavour, text::join(names, ", "));
    }
    if (!best) {
        return fmt::format("os {} is judged but not rendered: family {} is rendered on {}", wanted, kName,
                           text::join(names, ", "));
    }
    request.os = best;
    request.image.os = best->text("os");
    request.image.package_manager = best->text("package_manager");
    return {};
}

std::string find_base(Request& request) {
    auto& image = request.image;
    const auto repository = repository_of(request.facts, kName);
    const auto tag = tag_on(request, image.os, image.flavour);
    if (auto refused = refusal_of(request, tag); !refused.empty()) return refused;
    const auto row = lookup::cuda_image_row(lookup::cuda_release_images(request.facts, tag.cuda), tag);
    const auto holds = tag.has_cudnn() ? std::string(row->text("cudnn")) : std::string("none");
    if (auto refused = other_cudnn(request, tag.text(), holds); !refused.empty()) return refused;
    image.base_reference = repository + ":" + tag.text();
    image.cuda_from = "base";
    if (image.flavour == "devel") return {};
    auto devel = lookup::family_cuda_tag(request.facts, request.cuda->exact.text(), image.os, "devel", false);
    if (auto refused = refusal_of(request, devel); !refused.empty())
        return refused + ", which compiles the suite";
    image.devel_reference = repository + ":" + devel.text();
    return {};
}

}  // namespace

std::span<const Step> nvidia_cuda_steps() {
    static constexpr Step steps[] = {find_toolkit,     find_torch,      find_torch_index, find_os,
                                     find_base,        find_compiler,   find_python,      find_companions,
                                     find_constraints, find_environment};
    return steps;
}

}  // namespace cudamatrix::family
