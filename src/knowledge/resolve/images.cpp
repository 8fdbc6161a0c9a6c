#include "knowledge/resolve/images.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

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

CudaTag cuda_tag_like(std::string_view tag) {
    CudaTag out;
    for (const auto& part : text::split(tag, '-')) {
        const bool is_flavour = part == "base" || part == "runtime" || part == "devel";
        if (out.cuda.empty() && Version::parse(part))
            out.cuda = part;
        else if (is_flavour || part.starts_with("cudnn"))
            out.flavour += (out.flavour.empty() ? "" : "-") + part;
        else if (part.find_first_of("0123456789") != part.npos)
            out.os = part;
    }
    return out;
}

Row image_policy(const Facts& facts, std::string_view policy) {
    return *facts.row(fmt::format("image-policy-{}", policy));
}

std::string deletable_from(const Facts& facts, std::string_view since) {
    const auto months = Version::parse(image_policy(facts, "cuda-lifetime").text("months"));
    return months_later(since, months ? static_cast<int>(months->major()) : 0);
}

std::optional<std::string_view> member(const Context& context, Field field, std::string_view name) {
    const auto* value = context.cell.value(field);
    if (value == nullptr) return std::nullopt;
    for (const auto& [key, text] : value->items) {
        if (key == name) return text;
    }
    return std::nullopt;
}

std::optional<PytorchTag> nearest_pytorch(const Context& context, const PytorchImage& image,
                                          const PytorchTag& tag) {
    const auto torch = Version::parse(tag.release()), cuda = Version::parse(tag.cuda);
    if (!image.by_reference) return std::nullopt;
    std::optional<PytorchTag> best;
    for (const auto& row : context.facts.rows("pytorch_images")) {
        if (row.text("exists") != "true" || lookup::required_version(row, "torch") > *torch ||
            !contains(row.list("flavours"), tag.flavour))
            continue;
        auto chosen = row.list("cuda").front();
        for (const auto listed_cuda : row.list("cuda")) {
            if (*Version::parse(listed_cuda) <= *cuda) chosen = listed_cuda;
        }
        best = lookup::pytorch_tag_of(row, chosen, tag.flavour);
    }
    return best;
}

namespace {

using Distance = std::array<std::int64_t, 6>;

std::int64_t number(std::string_view text) {
    const auto version = Version::parse(text);
    return version ? version->major() * 10000 + version->minor() * 100 + version->part(2) : 0;
}

// 0 for the same, little for another release of a distribution, much for another distribution.
std::int64_t os_distance(std::string_view a, std::string_view b) {
    if (a.empty() || a == b) return 0;
    constexpr std::string_view digits = "0123456789";
    const auto name_a = a.substr(0, a.find_first_of(digits)), name_b = b.substr(0, b.find_first_of(digits));
    if (name_a != name_b) return 1000000000;
    return 1 + std::abs(number(a.substr(name_a.size())) - number(b.substr(name_b.size())));
}

// Its texts are those of the row.
struct Candidate {
    std::string_view cuda, flavour, os;
    Distance on_line, on_os;
};

// What is the same for all tags of a row, of a flavour and of a system is found once.
std::vector<Candidate> candidates(const Facts& facts, const CudaTag& wanted) {
    std::vector<Candidate> out;
    const auto unwanted = wanted.text();
    const auto a = number(wanted.cuda);
    const bool free_version = wanted.cuda.empty();
    for (const auto& row : facts.rows("cuda_images")) {
        if (row.text("status") == "deleted") continue;
        const auto cuda = row.text("cuda");
        const auto b = number(cuda);
        const std::int64_t eol = row.text("status") == "eol";
        const auto minor = free_version ? -b : std::abs(a / 100 - b / 100);
        const auto version = free_version ? 0 : std::abs(a - b) * 2 + (b < a);
        const auto flavours = row.list("flavours");
        for (const auto os : row.list("os")) {
            const auto system = os_distance(wanted.os, os);
            for (const auto flavour : flavours) {
                const CudaTag tag{std::string(cuda), std::string(flavour), std::string(os)};
                if (tag.cuda == wanted.cuda && tag.text() == unwanted) continue;
                const std::int64_t kind = !wanted.flavour.empty() && wanted.kind() != tag.kind();
                const std::int64_t cudnn =
                    flavour.starts_with("tensorrt") ? 2 : wanted.has_cudnn() != tag.has_cudnn();
                out.push_back({cuda,
                               flavour,
                               os,
                               {minor, kind, cudnn, system, eol, version},
                               {system, kind, cudnn, eol, minor, version}});
            }
        }
    }
    return out;
}

}  // namespace

NearTags near_cuda_tags(const Facts& facts, const CudaTag& wanted) {
    const auto all = candidates(facts, wanted);
    std::vector<const Candidate*> order;
    for (const auto& each : all)
        order.push_back(&each);
    const auto sorted = [&](Distance Candidate::*distance) {
        std::ranges::stable_sort(order, {},
                                 [&](const Candidate* each) -> const Distance& { return each->*distance; });
        std::vector<CudaTag> out;
        out.reserve(order.size());
        for (const auto* each : order)
            out.push_back({std::string(each->cuda), std::string(each->flavour), std::string(each->os)});
        return out;
    };
    auto on_line = sorted(&Candidate::on_line);
    return {std::move(on_line), sorted(&Candidate::on_os)};
}

std::vector<CudaTag> nearest_cuda_tags(const Facts& facts, const CudaTag& wanted) {
    const auto near = near_cuda_tags(facts, wanted);
    std::vector<CudaTag> out{near.on_line.front()};  // there are more tags than the wanted one
    if (near.on_os.front().text() != out.front().text()) out.push_back(near.on_os.front());
    return out;
}

FixOption set_to_tag(const CudaImage& image, const CudaTag& tag) {
    if (image.by_reference) return set_to(Field::image, fmt::format("{}:{}", image.name, tag.text()));
    FixOption out;
    const auto add = [&](Field field, std::string value) {
        out.text += fmt::format("{}{} {}", out.text.empty() ? "" : " with ", info(field).name, value);
        out.set.emplace_back(field, std::move(value));
    };
    if (tag.cuda != image.tag.cuda) add(Field::cuda, tag.cuda);
    if (tag.os != image.tag.os) add(Field::os, tag.os);
    if (!image.tag.flavour.empty() && tag.kind() != image.tag.kind())
        add(Field::flavour, std::string(tag.kind()));
    return out;
}

namespace {

std::optional<ImageTorch> of_reference(const Context& context) {
    const auto reference = image_reference(context.cell.text(Field::image));
    const auto repository = image_repository(context.facts, reference.repository);
    if (!repository || repository->text("scheme") != "ngc") return std::nullopt;
    ImageTorch out;
    out.image = fmt::format("image {}:{}", reference.name, reference.tag);
    // A digest may be anything.
    if (!reference.pinned) out.row = context.facts.row("ngc-pytorch-" + reference.tag);
    return out;
}

std::optional<ImageTorch> of_family(const Context& context) {
    const auto image = ngc_image_of_family(context);
    if (!image) return std::nullopt;
    ImageTorch out;
    out.field = Field::family;
    out.image = image->row ? fmt::format("image {}:{}", image->repository, image->row->text("tag"))
                           : fmt::format("an image {}", image->repository);
    out.row = image->row;
    return out;
}

// Of the release whose number the image's torch has. A row that does not say it leaves the cell's word.
std::optional<Version> release_of(const Context& context, const ImageTorch& torch) {
    const auto said = context.cell.text(Field::torch);
    const bool by_row = torch.row && torch.row->has("torch");
    const auto version = Version::parse(by_row ? torch.row->text("torch") : said.substr(0, said.find('+')));
    // "2.9" stands for whatever patch release is the newest, and no sources were on the way to that.
    return version && version->size() > 2 ? version : std::nullopt;
}

}  // namespace

std::vector<Field> ImageTorch::about(const Context& context, Field first) const {
    std::vector<Field> out{first};
    if (context.cell.has(Field::torch) && first != Field::torch) out.push_back(Field::torch);
    out.push_back(field);
    return out;
}

std::vector<FactRef> ImageTorch::facts() const {
    return row ? std::vector<FactRef>{row->ref()} : std::vector<FactRef>{};
}

std::optional<ImageTorch> image_torch(const Context& context) {
    if (context.cell.text(Field::torch) == "none") return std::nullopt;
    auto out = context.cell.has(Field::image) ? of_reference(context) : of_family(context);
    if (!out) return std::nullopt;
    out->release = release_of(context, *out);
    out->text = out->release ? fmt::format("torch {}a0 of {}", out->release->text(), out->image)
                             : fmt::format("the torch of {}", out->image);
    if (out->row) out->cuda = out->row->text("cuda");
    return out;
}

}  // namespace cudamatrix::rules
