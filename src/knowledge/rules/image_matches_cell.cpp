// An image's tag and the fields beside it describe one thing: where they contradict each other, the verdicts
// of all other rules are about something else than what will run.
#include "base/text.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

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

bool same_major(std::string_view a, std::string_view b) {
    const auto left = Version::parse(a), right = Version::parse(b);
    return !left || !right || left->major() == right->major();
}

bool same_text(std::string_view a, std::string_view b) {
    return a == b;
}

void compare(Ask& ask, const Content& image, Field field, std::string_view what, std::string_view holds,
             bool (*same)(std::string_view, std::string_view)) {
    const auto wanted = ask.cell.text(field);
    if (holds.empty() || wanted.empty()) return;
    const auto name = info(field).name;
    if (same(holds, field == Field::torch ? wanted.substr(0, wanted.find('+')) : wanted)) {
        ask.question({field},
                     fmt::format("whether {} holds the {} {} that the cell names", image.text, name, wanted));
        ask.record_pass(image.facts);
        return;
    }
    ask.question({image.text.starts_with("image ") ? Field::image : field, field}, {}, name);
    ask.reject("{} holds {}{}, the cell says {} {}", image.text, what, holds, name, wanted)
        .because(image.facts)
        .fix(field, holds);
}

void compare_all(Ask& ask, const Content& image) {
    compare(ask, image, Field::cuda, "CUDA ", image.cuda, same_version);
    compare(ask, image, Field::os, "", image.os, same_text);
    compare(ask, image, Field::flavour, "the flavour ", image.flavour, same_text);
    compare(ask, image, Field::cudnn, "cuDNN ", image.cudnn, same_major);
    compare(ask, image, Field::python, "python ", image.python, same_minor);
    if (wants_torch(ask))
        compare(ask, image, Field::torch, "torch ", image.torch,
                image.near_torch ? same_minor : same_version);
}

// What of the cell no fact and no tag of an image of torch can confirm.
void mention_unread(Ask& ask, const Content& image) {
    std::vector<Field> about;
    std::vector<std::string> words;
    for (const auto& [field, holds] : {std::pair{Field::os, &image.os}, {Field::python, &image.python}}) {
        if (!holds->empty() || !ask.cell.has(field)) continue;
        about.push_back(field);
        words.push_back(fmt::format("{} {}", info(field).name, ask.cell.text(field)));
    }
    if (about.empty()) return;
    ask.question(std::move(about), {}, "unread");
    ask.note("no fact says whether {} holds the cell's {}: that is not checked", image.text,
             text::join(words, " and "))
        .because(image.facts);
}

// The wheel inside an image of pytorch/pytorch is the variant that its tag names.
void compare_variant(Ask& ask, const Content& image, const PytorchTag& tag) {
    const auto torch = ask.cell.text(Field::torch);
    const auto plus = torch.find('+');
    if (plus == torch.npos || torch.substr(plus + 1) == tag.variant() || !same_version(tag.release(), torch))
        return;
    const auto build = tag.release() + "+" + tag.variant();
    ask.question({Field::image, Field::torch}, {}, "torch");
    ask.reject("{} holds torch {}, the cell says torch {}", image.text, build, torch)
        .because(image.facts)
        .fix(Field::torch, build);
}

// An image of the toolkit has cuDNN only where its tag says so, and then in one version.
void judge_missing_cudnn(Ask& ask, const CudaImage& image, const Content& content) {
    const auto wanted = ask.cell.text(Field::cudnn);
    if (wanted.empty() || image.tag.flavour.empty() || image.tag.has_cudnn()) return;
    ask.question({image.by_reference ? Field::image : Field::flavour, Field::cudnn}, {}, "cudnn");
    auto answer = ask.reject("{} holds no cuDNN, the cell says cudnn {}", content.text, wanted);
    answer.because(content.facts);
    if (!image.by_reference) answer.fix(Field::flavour, "runtime");
}

void judge_cuda_matches(Ask& ask, const CudaImage& image) {
    Content content;
    content.text = image.by_reference ? image.text : "the " + image.text;
    cite(content.facts, ask.facts, "image-policy-cuda-tag-form");
    if (image.by_reference) {
        content.cuda = image.tag.cuda;
        content.os = image.tag.os;
        content.flavour = image.tag.kind();
    }
    judge_missing_cudnn(ask, image, content);
    // Without a flavour any tag of the release that brings cuDNN says which.
    const auto tag = image.tag.flavour.empty()
                         ? lookup::family_cuda_tag(ask.facts, image.tag.cuda, image.tag.os, "runtime",
                                                   ask.cell.has(Field::cudnn))
                         : image.tag;
    const auto row = cuda_image_row(cuda_release_images(ask.facts, tag.cuda), tag);
    if (row && tag.has_cudnn() && row->has("cudnn")) {
        content.cudnn = row->text("cudnn");
        if (image.tag.flavour.empty()) content.text = fmt::format("the image {}:{}", image.name, tag.text());
        content.facts = {row->ref()};
    }
    compare_all(ask, content);
}

// The image of family pytorch is that of the cell's torch, and so is the CUDA in it.
void judge_pytorch_cuda(Ask& ask, const TorchBuild& build) {
    const auto& wheel = *build.torch.wheel;
    const auto& release = *build.torch.release;
    const auto holds = wheel.text("cuda"), wanted = ask.cell.text(Field::cuda);
    if (wanted.empty()) return;
    if (same_version(holds, wanted)) {
        ask.question({Field::cuda, Field::torch},
                     fmt::format("whether the image of {} holds CUDA {}", build.text, wanted));
        ask.record_pass({wheel.ref()});
        return;
    }
    ask.question({Field::cuda, Field::torch, Field::family}, {}, "cuda");
    ask.reject(
           "the image of {} in family {} holds CUDA {}, the cell says cuda {}: the builds of torch {} are {}",
           build.text, ask.cell.text(Field::family), holds, wanted, release.text("torch"),
           listed(release.list("variants")))
        .because(wheel.ref())
        .because(release.ref())
        .fix(Field::cuda, holds);
}

// Each image of torch holds one cuDNN; which flavour it is makes no difference.
void judge_pytorch_content(Ask& ask, const TorchBuild& build) {
    const auto row = lookup::pytorch_image(ask.facts, build.torch.exact.text(),
                                           build.torch.wheel->text("cuda"), "runtime");
    if (!row) return;
    Content content;
    content.text = fmt::format("the image of {} in family {}", build.text, ask.cell.text(Field::family));
    content.facts = {row->ref()};
    mention_unread(ask, content);
    if (!ask.cell.has(Field::cudnn)) return;
    content.cudnn = row->text("cudnn");
    compare_all(ask, content);
}

void judge_pytorch_matches(Ask& ask) {
    if (!wants_torch(ask)) return;
    const auto resolved = torch_build(ask);
    const auto* build = std::get_if<TorchBuild>(&resolved);
    if (build == nullptr || !build->torch.wheel || !build->torch.wheel->has("cuda")) return;
    judge_pytorch_content(ask, *build);
    judge_pytorch_cuda(ask, *build);
}

// Its images have no CUDA; with an os toolkit-available says so.
void judge_cpu_family(Ask& ask, const Row& repository) {
    if (ask.cell.has(Field::os)) return;
    ask.question({Field::cuda, Field::family}, {}, "cuda");
    auto answer = ask.reject("the images of family {} hold no CUDA, the cell says cuda {}",
                             ask.cell.text(Field::family), ask.cell.text(Field::cuda));
    answer.because(repository.ref());
    for (const auto& row : ask.facts.rows("image_repositories")) {
        if (row.text("scheme") != "cuda" || !row.has("family")) continue;
        answer.fix(Field::family, row.text("family"));
        break;
    }
}

// NVIDIA's own images hold NVIDIA's own build, which is of no variant.
void judge_ngc_variant(Ask& ask, const Row& repository, Field by, const std::string& holder) {
    const auto torch = ask.cell.text(Field::torch);
    const auto plus = torch.find('+');
    if (plus == torch.npos) return;
    ask.question({Field::torch, by}, {}, "torch");
    ask.reject("{} NVIDIA's own build of torch, the cell says torch {}", holder, torch)
        .because(repository.ref())
        .fix(Field::torch, torch.substr(0, plus));
}

void judge_family_matches(Ask& ask) {
    const auto family = ask.cell.text(Field::family);
    const auto repository = family_repository(ask.facts, family);
    if (!repository) return;
    const auto scheme = repository->text("scheme");
    if (scheme == "ngc")
        judge_ngc_variant(ask, *repository, Field::family,
                          fmt::format("the images of family {} hold", family));
    if (scheme == "pytorch") judge_pytorch_matches(ask);
    if (scheme == "python" && ask.cell.has(Field::cuda)) judge_cpu_family(ask, *repository);
}

void judge_image_matches_cell(Ask& ask) {
    if (const auto image = cuda_image(ask)) return judge_cuda_matches(ask, *image);
    if (!ask.cell.has(Field::image)) return judge_family_matches(ask);
    const auto reference = image_reference(ask.cell.text(Field::image));
    const auto repository = image_repository(ask.facts, reference.repository);
    if (!repository) return;
    Content content;
    content.text = fmt::format("image {}:{}", reference.name, reference.tag);
    if (repository->text("scheme") == "ngc")
        judge_ngc_variant(ask, *repository, Field::image, content.text + " holds");
    if (repository->text("scheme") == "pytorch") {
        const auto tag = pytorch_tag(reference.tag);
        if (!tag) return;
        cite(content.facts, ask.facts, "image-policy-pytorch-tag-form");
        content.torch = tag->release();
        content.cuda = tag->cuda;
        content.flavour = tag->flavour;
        content.cudnn = tag->cudnn;
        compare_all(ask, content);
        compare_variant(ask, content, *tag);
        mention_unread(ask, content);
    } else if (const auto row = ask.facts.row("ngc-pytorch-" + reference.tag)) {
        content.facts = {row->ref()};
        content.torch = row->text("torch");
        content.near_torch = true;
        content.cuda = row->text("cuda");
        content.os = row->text("os");
        content.python = row->text("python");
        compare_all(ask, content);
        mention_unread(ask, content);
    }
}

}  // namespace

Rule image_matches_cell() {
    return {.id = "image-matches-cell",
            .stage = Stage::image_pull,
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
            .judge = judge_image_matches_cell};
}

}  // namespace cudamatrix::rules
