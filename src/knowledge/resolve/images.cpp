#include "knowledge/resolve/images.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cudamatrix::rules {
namespace {

std::optional<CudaImage> image_of_family(const Context& context) {
    const auto repository = family_repository(context.facts, context.cell.text(Field::family));
    if (!repository || repository->text("scheme") != "cuda") return std::nullopt;
    if (!context.cell.has(Field::cuda) || !context.cell.has(Field::os)) return std::nullopt;
    const auto known = lookup::cuda(context.facts, context.cell.text(Field::cuda));
    if (!known) return std::nullopt;  // said by the rules about CUDA itself
    CudaImage out;
    out.field = Field::cuda;
    out.name = repository->text("repository");
    out.tag = lookup::family_cuda_tag(context.facts, known->exact.text(), context.cell.text(Field::os),
                                      context.cell.text(Field::flavour), context.cell.has(Field::cudnn));
    out.text = fmt::format("image {}:{}", out.name, out.tag.text());
    return out;
}

// The CUDA of an image of NVIDIA's own, as far as its row says it.
std::optional<Version> ngc_cuda(const Context& context) {
    const auto reference = image_reference(context.cell.text(Field::image));
    const auto repository = image_repository(context.facts, reference.repository);
    if (!repository || repository->text("scheme") != "ngc" || reference.pinned) return std::nullopt;
    const auto row = context.facts.row("ngc-pytorch-" + reference.tag);
    return row ? Version::parse(row->text("cuda")) : std::nullopt;
}

}  // namespace

std::optional<CudaImage> cuda_image(const Context& context) {
    if (!context.cell.has(Field::image)) return image_of_family(context);
    const auto reference = image_reference(context.cell.text(Field::image));
    const auto repository = image_repository(context.facts, reference.repository);
    const auto tag = cuda_tag(reference.tag);
    if (!repository || repository->text("scheme") != "cuda" || !tag) return std::nullopt;
    return CudaImage{*tag, fmt::format("image {}:{}", reference.name, reference.tag), reference.name, true,
                     reference.pinned};
}

std::optional<ImageCompat> compat_in_image(const Context& context) {
    // Asked of every cell that has a driver: what answers for most comes first.
    std::optional<Version> cuda;
    std::string_view name = "holds-compat";
    if (context.cell.has(Field::image)) {
        const auto image = cuda_image(context);
        if (image) {
            cuda = Version::parse(image->tag.cuda);
        } else {
            cuda = ngc_cuda(context);
            name = "ngc-holds-compat";
        }
    } else {
        const auto repository = family_repository(context.facts, context.cell.text(Field::family));
        if (!repository) return std::nullopt;
        if (repository->text("scheme") == "ngc") {
            name = "ngc-holds-compat";
        } else if (repository->text("scheme") != "cuda") {
            return std::nullopt;
        }
        const auto known = lookup::cuda(context.facts, context.cell.text(Field::cuda));
        if (known) cuda = known->exact;
    }
    if (!cuda) return std::nullopt;
    const auto policy = image_policy(context.facts, name);
    const auto arch = context.cell.text(Field::arch);
    if (!contains(policy.list("values"), arch.empty() ? "x86_64" : arch)) return std::nullopt;
    const auto since = Version::parse(policy.text("since"));
    if (since && *cuda < *since) return std::nullopt;
    return ImageCompat{cuda->major_minor(), name};
}

std::optional<NgcImage> ngc_image_of_family(const Context& context) {
    const auto& cell = context.cell;
    if (cell.has(Field::image)) return std::nullopt;
    const auto repository = family_repository(context.facts, cell.text(Field::family));
    if (!repository || repository->text("scheme") != "ngc") return std::nullopt;
    const auto arch = cell.text(Field::arch);
    lookup::NgcWanted wanted;
    if (!arch.empty()) wanted.arch = arch;
    NgcImage out{std::string(repository->text("repository")), {}, {}};
    const auto ask = [&](std::string_view what, std::string_view text, std::string& member) {
        if (text.empty()) return;
        member = text;
        out.wanted += fmt::format("{}{}{}", out.wanted.empty() ? "" : ", ", what, text);
    };
    const auto torch = cell.text(Field::torch);
    if (torch != "none") ask("torch ", torch.substr(0, torch.find('+')), wanted.torch);
    ask("CUDA ", cell.text(Field::cuda), wanted.cuda);
    ask("python ", cell.text(Field::python), wanted.python);
    ask("", cell.text(Field::os), wanted.os);
    out.row = lookup::ngc_image(context.facts, wanted);
    return out;
}

Row image_policy(const Facts& facts, std::string_view policy) {
    return *facts.row(fmt::format("image-policy-{}", policy));
}

std::optional<std::string_view> member(const Context& context, Field field, std::string_view name) {
    const auto* value = context.cell.value(field);
    if (value == nullptr) return std::nullopt;
    for (const auto& [key, text] : value->items) {
        if (key == name) return text;
    }
    return std::nullopt;
}

}  // namespace cudamatrix::rules
