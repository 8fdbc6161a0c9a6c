#include "knowledge/resolve/image_torch.hpp"

#include "base/text.hpp"
#include "knowledge/resolve/images.hpp"

namespace cudamatrix::rules {
namespace {

std::optional<ImageTorch> of_reference(const Context& context) {
    auto reference = image_reference(context.cell.text(Field::image));
    const auto repository = image_repository(context.facts, reference.repository);
    if (!repository || repository->text("scheme") != "ngc") return std::nullopt;
    if (reference.tag.empty()) reference.tag = "latest";
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
