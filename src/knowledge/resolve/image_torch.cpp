#include "knowledge/resolve/image_torch.hpp"

#include <algorithm>

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

// The first release of the minor before: from its branch on the sources went their own way.
std::optional<Version> minor_before(const Facts& facts, const std::optional<Version>& release) {
    std::optional<Version> out;
    if (!release) return out;
    for (const auto& row : facts.rows("torch_releases")) {  // sorted
        const auto torch = lookup::required_version(row, "torch");
        if (torch >= *release) break;
        if (!out || torch.major_minor() != out->major_minor()) {
            if (torch.major_minor() != release->major_minor()) out = torch;
        }
    }
    return out;
}

std::optional<TorchBuild> stand_in(const Context& context, const ImageTorch& torch,
                                   const std::optional<Version>& release) {
    if (!release) return std::nullopt;
    auto row = context.facts.row("torch-" + release->text());
    if (!row) return std::nullopt;
    const auto arch = context.cell.text(Field::arch);
    lookup::Torch out{*release, {}, false, row, std::nullopt};
    return TorchBuild{std::move(out), torch.text, std::string(arch.empty() ? "x86_64" : arch), std::nullopt};
}

bool say_the_same(const Findings& a, const Findings& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Finding& x, const Finding& y) {
        return x.severity == y.severity && x.aspect == y.aspect;
    });
}

void add_image(const ImageTorch& torch, std::vector<Field>& about) {
    if (std::find(about.begin(), about.end(), torch.field) == about.end()) about.push_back(torch.field);
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

Finding unknown_of(const Context& context, const ImageTorch& torch, Stage stage, std::string_view aspect,
                   Field first, std::string_view what, const std::string& question) {
    const Unresolved gap{torch.field, fmt::format("no fact says {} {}", what, torch.image), {}};
    auto out = unknown(stage, aspect, torch.about(context, first), gap, question);
    out.facts = torch.facts();
    return out;
}

void judge_image_torch(const Context& context, const ImageTorch& torch, Stage stage, Field first,
                       const std::string& question, const JudgeBuild& judge, Findings& out) {
    const auto release = stand_in(context, torch, torch.release);
    const auto before = stand_in(context, torch, minor_before(context.facts, torch.release));
    if (!release || !before) {
        out.push_back(unknown_of(context, torch, stage, "", first, "which torch is in", question));
        return;
    }
    Findings found, other;
    Acceptances accepted;
    auto quiet = context;
    quiet.accepted = nullptr;
    judge(quiet, *before, other);
    if (context.accepted != nullptr) quiet.accepted = &accepted;
    judge(quiet, *release, found);
    if (!say_the_same(found, other)) {
        out.push_back(unknown_of(
            context, torch, stage, "", first,
            fmt::format("how far torch {} had come when it was taken for", torch.release->text()), question));
        return;
    }
    for (auto& each : found) {
        add_image(torch, each.about);
        const auto facts = torch.facts();
        each.facts.insert(each.facts.end(), facts.begin(), facts.end());
        out.push_back(std::move(each));
    }
    for (auto& each : accepted) {
        add_image(torch, each.about);
        context.accepted->push_back(std::move(each));
    }
}

}  // namespace cudamatrix::rules
