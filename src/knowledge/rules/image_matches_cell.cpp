// An image's tag and the fields beside it describe one thing: where they contradict each other, the verdicts
// of all other rules are about something else than what will run.
#include "base/text.hpp"
#include "knowledge/resolve/image_fixes.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::image_pull;

// What an image holds, as its tag or its row says; empty where neither does.
struct Content {
    std::string text;  ///< "image nvidia/cuda:12.4.1-devel-ubuntu22.04"
    std::string cuda, torch, os, flavour, cudnn, python;
    bool near_torch = false;  ///< the torch is a pre-release of its minor
    std::vector<FactRef> facts;
};

bool same_version(std::string_view a, std::string_view b) {
    const auto left = Version::parse(a), right = Version::parse(b);
    return !left || !right || left->covers(*right) || right->covers(*left);
}

bool same_minor(std::string_view a, std::string_view b) {
    const auto left = Version::parse(a), right = Version::parse(b);
    return !left || !right || left->major_minor() == right->major_minor();
}

void compare(const Context& context, const Content& image, Field field, std::string_view holds,
             std::string_view wanted, bool same, std::string_view what, Findings& out) {
    if (holds.empty() || wanted.empty()) return;
    if (same) {
        return passed(context, [&] {
            return Acceptance{{},
                              kStage,
                              {field},
                              fmt::format("whether {} holds the {} {} that the cell names", image.text,
                                          info(field).name, wanted),
                              image.facts};
        });
    }
    const auto primary = image.text.starts_with("image ") ? Field::image : field;
    auto error = finding(
        Severity::error, kStage, info(field).name, {primary, field},
        fmt::format("{} holds {}{}, the cell says {} {}", image.text, what, holds, info(field).name, wanted),
        image.facts);
    error.fixes.push_back(set_to(field, holds));
    out.push_back(std::move(error));
}

void compare_all(const Context& context, const Content& image, Findings& out) {
    const auto text = [&](Field field) { return context.cell.text(field); };
    compare(context, image, Field::cuda, image.cuda, text(Field::cuda),
            same_version(image.cuda, text(Field::cuda)), "CUDA ", out);
    compare(context, image, Field::os, image.os, text(Field::os), image.os == text(Field::os), "", out);
    compare(context, image, Field::flavour, image.flavour, text(Field::flavour),
            image.flavour == text(Field::flavour), "the flavour ", out);
    const auto cudnn = Version::parse(image.cudnn), wanted = Version::parse(text(Field::cudnn));
    const bool same_cudnn = !cudnn || !wanted || cudnn->major() == wanted->major();
    compare(context, image, Field::cudnn, image.cudnn, text(Field::cudnn), same_cudnn, "cuDNN ", out);
    compare(context, image, Field::python, image.python, text(Field::python),
            same_minor(image.python, text(Field::python)), "python ", out);
    if (!wants_torch(context)) return;
    const auto torch = text(Field::torch).substr(0, text(Field::torch).find('+'));
    const bool same = image.near_torch ? same_minor(image.torch, torch) : same_version(image.torch, torch);
    compare(context, image, Field::torch, image.torch, text(Field::torch), same, "torch ", out);
}

// What of the cell no fact and no tag of an image of torch can confirm.
void mention_unread(const Context& context, const Content& image, Findings& out) {
    std::vector<Field> about;
    std::vector<std::string> words;
    for (const auto& [field, holds] : {std::pair{Field::os, &image.os}, {Field::python, &image.python}}) {
        if (!holds->empty() || !context.cell.has(field)) continue;
        about.push_back(field);
        words.push_back(fmt::format("{} {}", info(field).name, context.cell.text(field)));
    }
    if (about.empty()) return;
    out.push_back(finding(Severity::note, kStage, "unread", about,
                          fmt::format("no fact says whether {} holds the cell's {}: that is not checked",
                                      image.text, text::join(words, " and ")),
                          image.facts));
}

// The wheel inside an image of pytorch/pytorch is the variant that its tag names.
void compare_variant(const Context& context, const Content& image, const PytorchTag& tag, Findings& out) {
    const auto torch = context.cell.text(Field::torch);
    const auto plus = torch.find('+');
    if (plus == torch.npos || torch.substr(plus + 1) == tag.variant() || !same_version(tag.release(), torch))
        return;
    auto error = finding(Severity::error, kStage, "torch", {Field::image, Field::torch},
                         fmt::format("{} holds torch {}+{}, the cell says torch {}", image.text,
                                     tag.release(), tag.variant(), torch),
                         image.facts);
    error.fixes.push_back(set_to(Field::torch, tag.release() + "+" + tag.variant()));
    out.push_back(std::move(error));
}

// An image of the toolkit has cuDNN only where its tag says so, and then in one version.
void judge_missing_cudnn(const Context& context, const CudaImage& image, const Content& content,
                         Findings& out) {
    const auto wanted = context.cell.text(Field::cudnn);
    if (wanted.empty() || image.tag.flavour.empty() || image.tag.has_cudnn()) return;
    const auto primary = image.by_reference ? Field::image : Field::flavour;
    auto error = finding(Severity::error, kStage, "cudnn", {primary, Field::cudnn},
                         fmt::format("{} holds no cuDNN, the cell says cudnn {}", content.text, wanted),
                         content.facts);
    if (!image.by_reference) error.fixes.push_back(set_to(Field::flavour, "runtime"));
    out.push_back(std::move(error));
}

void judge_cuda(const Context& context, const CudaImage& image, Findings& out) {
    Content content;
    content.text = image.by_reference ? image.text : "the " + image.text;
    cite(content.facts, context.facts, "image-policy-cuda-tag-form");
    if (image.by_reference) {
        content.cuda = image.tag.cuda;
        content.os = image.tag.os;
        content.flavour = image.tag.kind();
    }
    judge_missing_cudnn(context, image, content, out);
    // Without a flavour any tag of the release that brings cuDNN says which.
    const auto tag = image.tag.flavour.empty()
                         ? lookup::family_cuda_tag(context.facts, image.tag.cuda, image.tag.os, "runtime",
                                                   context.cell.has(Field::cudnn))
                         : image.tag;
    const auto row = cuda_image_row(cuda_release_images(context.facts, tag.cuda), tag);
    if (row && tag.has_cudnn() && row->has("cudnn")) {
        content.cudnn = row->text("cudnn");
        content.facts = {row->ref()};
    }
    compare_all(context, content, out);
}

// The image of family pytorch is that of the cell's torch, and so is the CUDA in it.
void judge_pytorch_cuda(const Context& context, const TorchBuild& build, Findings& out) {
    const auto holds = build.torch.wheel->text("cuda");
    const auto wanted = context.cell.text(Field::cuda);
    if (wanted.empty()) return;
    if (same_version(holds, wanted)) {
        return passed(context, [&] {
            return Acceptance{{},
                              kStage,
                              {Field::cuda, Field::torch},
                              fmt::format("whether the image of {} holds CUDA {}", build.text, wanted),
                              {build.torch.wheel->ref()}};
        });
    }
    const auto& release = *build.torch.release;
    auto error = finding(Severity::error, kStage, "cuda", {Field::cuda, Field::torch, Field::family},
                         fmt::format("the image of {} in family {} holds CUDA {}, the cell says cuda {}: the "
                                     "builds of torch {} are {}",
                                     build.text, context.cell.text(Field::family), holds, wanted,
                                     release.text("torch"), listed(release.list("variants"))),
                         {build.torch.wheel->ref(), release.ref()});
    error.fixes.push_back(set_to(Field::cuda, holds));
    out.push_back(std::move(error));
}

// Each image of torch holds one cuDNN; which flavour it is makes no difference.
void judge_pytorch_content(const Context& context, const TorchBuild& build, Findings& out) {
    const auto row = lookup::pytorch_image(context.facts, build.torch.exact.text(),
                                           build.torch.wheel->text("cuda"), "runtime");
    if (!row) return;
    Content content;
    content.text = fmt::format("the image of {} in family {}", build.text, context.cell.text(Field::family));
    content.facts = {row->ref()};
    mention_unread(context, content, out);
    if (!context.cell.has(Field::cudnn)) return;
    content.cudnn = row->text("cudnn");
    compare_all(context, content, out);
}

void judge_pytorch_family(const Context& context, Findings& out) {
    if (!wants_torch(context)) return;
    const auto resolved = torch_build(context);
    const auto* build = std::get_if<TorchBuild>(&resolved);
    if (build == nullptr || !build->torch.wheel || !build->torch.wheel->has("cuda")) return;
    judge_pytorch_content(context, *build, out);
    judge_pytorch_cuda(context, *build, out);
}

// Its images have no CUDA; with an os toolkit-available says so.
void judge_cpu_family(const Context& context, const Row& repository, Findings& out) {
    if (context.cell.has(Field::os)) return;
    auto error = finding(Severity::error, kStage, "cuda", {Field::cuda, Field::family},
                         fmt::format("the images of family {} hold no CUDA, the cell says cuda {}",
                                     context.cell.text(Field::family), context.cell.text(Field::cuda)),
                         {repository.ref()});
    for (const auto& row : context.facts.rows("image_repositories")) {
        if (row.text("scheme") != "cuda" || !row.has("family")) continue;
        error.fixes.push_back(set_to(Field::family, row.text("family")));
        break;
    }
    out.push_back(std::move(error));
}

// NVIDIA's own images hold NVIDIA's own build, which is of no variant.
void judge_ngc_variant(const Context& context, const Row& repository, Field by, const std::string& holder,
                       Findings& out) {
    const auto torch = context.cell.text(Field::torch);
    const auto plus = torch.find('+');
    if (plus == torch.npos) return;
    auto error = finding(Severity::error, kStage, "torch", {Field::torch, by},
                         fmt::format("{} NVIDIA's own build of torch, the cell says torch {}", holder, torch),
                         {repository.ref()});
    error.fixes.push_back(set_to(Field::torch, torch.substr(0, plus)));
    out.push_back(std::move(error));
}

void judge_family(const Context& context, Findings& out) {
    const auto repository = family_repository(context.facts, context.cell.text(Field::family));
    if (repository && repository->text("scheme") == "ngc") {
        judge_ngc_variant(context, *repository, Field::family,
                          fmt::format("the images of family {} hold", context.cell.text(Field::family)), out);
    }
    if (!repository) return;
    if (repository->text("scheme") == "pytorch") judge_pytorch_family(context, out);
    if (repository->text("scheme") == "python" && context.cell.has(Field::cuda))
        judge_cpu_family(context, *repository, out);
}

void judge(const Context& context, Findings& out) {
    if (const auto image = cuda_image(context)) {
        judge_cuda(context, *image, out);
        return;
    }
    if (!context.cell.has(Field::image)) return judge_family(context, out);
    const auto reference = image_reference(context.cell.text(Field::image));
    const auto repository = image_repository(context.facts, reference.repository);
    if (!repository) return;
    Content content;
    content.text = fmt::format("image {}:{}", reference.name, reference.tag);
    if (repository->text("scheme") == "ngc")
        judge_ngc_variant(context, *repository, Field::image, content.text + " holds", out);
    if (repository->text("scheme") == "pytorch") {
        const auto tag = pytorch_tag(reference.tag);
        if (!tag) return;
        const auto torch = tag->release();
        cite(content.facts, context.facts, "image-policy-pytorch-tag-form");
        content.torch = torch;
        content.cuda = tag->cuda;
        content.flavour = tag->flavour;
        content.cudnn = tag->cudnn;
        compare_all(context, content, out);
        compare_variant(context, content, *tag, out);
        mention_unread(context, content, out);
    } else if (const auto row = context.facts.row("ngc-pytorch-" + reference.tag)) {
        content.facts = {row->ref()};
        content.torch = row->text("torch");
        content.near_torch = true;
        content.cuda = row->text("cuda");
        content.os = row->text("os");
        content.python = row->text("python");
        compare_all(context, content, out);
        mention_unread(context, content, out);
    }
}

}  // namespace

Rule image_matches_cell() {
    return {.id = "image-matches-cell",
            .stage = kStage,
            .summary = "What the image holds is what the cell's other fields say.",
            .why =
                "The tag names the CUDA, the torch, the distribution and the cuDNN inside. A cell that says "
                "something else beside it is judged by the one and runs the other, so that no verdict of it "
                "holds.",
            .fails = "image: \"nvidia/cuda:12.4.1-devel-ubuntu22.04\", cuda: 12.6.3",
            .passes = "image: \"nvidia/cuda:12.4.1-devel-ubuntu22.04\", cuda: 12.4.1, os: ubuntu22.04",
            .reads = {Field::image, Field::family, Field::cuda, Field::torch, Field::os, Field::flavour,
                      Field::cudnn, Field::python, Field::arch},
            .needs = {{Field::image, Field::family}},
            .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
