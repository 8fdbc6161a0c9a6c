// Can the image be pulled at all? Tags of nvidia/cuda end and are deleted, and many that circulate in
// Dockerfiles never were. Of a repository that no fact describes nothing can be said: that is unknown, and a
// digest in place of the tag answers it.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/rules/image_content.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

std::vector<Field> about_of(const CudaImage& image) {
    if (image.by_reference) return {Field::image};
    return {Field::cuda, Field::os, Field::flavour, Field::cudnn, Field::family};
}

void refuse(Ask& ask, const CudaImage& image, const std::string& why, std::vector<FactRef> facts) {
    if (facts.empty()) cite(facts, ask.facts, "image-policy-cuda-tag-form");
    auto answer = ask.reject("{} {}", image.text, why);
    answer.because(facts);
    answer.other(Field::image);
}

void accept(Ask& ask, const std::string& image, const Row& row) {
    ask.accept({row.ref()}, "whether {} exists", image);
}

// The row, of an image or of its repository, may list the processors.
void refuse_arch(Ask& ask, const std::string& image, const Row& row) {
    const auto arch = ask.cell.text(Field::arch);
    if (arch.empty() || !row.has("arch") || contains(row.list("arch"), arch)) return;
    ask.question({Field::arch, ask.about().front()}, {}, "arch");
    auto answer = ask.reject("{} is not built for {}: it is for {}", image, arch, listed(row.list("arch")));
    answer.because(row.ref());
    for (const auto built : row.list("arch"))
        answer.fix(Field::arch, built);
}

// What the facts know next to a release without images.
std::vector<FactRef> neighbours(const Context& context, const CudaTag& tag) {
    std::vector<FactRef> facts;
    for (const auto& near : nearest_cuda_tags(context.facts, tag)) {
        facts.push_back(cuda_image_row(cuda_release_images(context.facts, near.cuda), near)->ref());
    }
    return facts;
}

// Why a release whose tags are all known does not have this one.
std::string absence(const CudaRelease& release, const CudaTag& tag) {
    if (release.rows.empty()) {
        if (Version::parse(tag.cuda)->size() == 2)
            return fmt::format("never existed: no tag says {} without its update", tag.cuda);
        return fmt::format("never existed: there are no images of CUDA {}", tag.cuda);
    }
    std::vector<std::string_view> systems, flavours;
    for (const auto& row : release.rows) {
        const auto os = row.list("os");
        systems.insert(systems.end(), os.begin(), os.end());
        if (!contains(os, tag.os)) continue;
        const auto list = row.list("flavours");
        flavours.insert(flavours.end(), list.begin(), list.end());
    }
    if (flavours.empty())
        return fmt::format("never existed: the images of CUDA {} are for {}", tag.cuda, listed(systems));
    return fmt::format("never existed: on {} CUDA {} has {}", tag.os, tag.cuda, listed(flavours));
}

void judge_cuda_tag(Ask& ask, const CudaImage& image) {
    ask.question(about_of(image), "whether it exists");
    const auto release = cuda_release_images(ask.facts, image.tag.cuda);
    const auto row = cuda_image_row(release, image.tag);
    std::vector<FactRef> facts;
    for (const auto& known : release.rows)
        facts.push_back(known.ref());
    if (facts.size() > 2) facts.resize(2);
    const bool all_deleted = !release.rows.empty() && !release.rows.front().has("os");
    if (all_deleted || (row && row->text("status") == "deleted")) {
        cite(facts, ask.facts, "image-policy-cuda-lifetime");
        refuse(ask, image,
               fmt::format("no longer exists: the images of CUDA {}{} were deleted", image.tag.cuda,
                           all_deleted ? "" : " on " + image.tag.os),
               row ? std::vector{row->ref()} : std::move(facts));
    } else if (row) {
        accept(ask, image.text, *row);
        refuse_arch(ask, image.text, *row);
    } else if (release.settled) {
        if (facts.empty()) facts = neighbours(ask, image.tag);
        refuse(ask, image, absence(release, image.tag), std::move(facts));
    } else {
        const auto near = nearest_cuda_tags(ask.facts, image.tag).front();
        ask.unknown(
            {image.field,
             fmt::format("no fact describes {} (the nearest that is known is {})", image.text, near.text()),
             {set_to_tag(image, near)}});
    }
}

void judge_pytorch(Ask& ask, const PytorchImage& image, const PytorchTag& tag) {
    const auto reject = [&](const std::string& why, const Row& row) {
        ask.reject("{} never existed: {}", image.text, why).because(row.ref()).other(Field::image);
    };
    ask.question(image.about(), "whether it exists");
    const auto release = ask.facts.row("torch-" + tag.release());
    if (release && release->text("complete") == "true" &&
        !contains(release->list("variants"), tag.variant())) {
        reject(fmt::format("torch {} has no build for CUDA {}, it has {}", tag.release(), tag.cuda,
                           listed(release->list("variants"))),
               *release);
        return;
    }
    for (const auto& row : rows_with(ask.facts, "pytorch_images", "torch", tag.release())) {
        if (!contains(row.list("cuda"), tag.cuda) || !lookup::spells_torch(row, tag)) continue;
        if (row.text("exists") != "true") {
            reject(fmt::format("torch {} was pushed for another CUDA only", tag.torch), row);
        } else if (row.text("cudnn") != tag.cudnn) {
            reject(fmt::format("the tags of torch {} say cudnn{}", tag.torch, row.text("cudnn")), row);
        } else if (contains(row.list("flavours"), tag.flavour)) {
            accept(ask, image.text, row);
            const auto repository = image_repository(ask.facts, image_reference(image.name).repository);
            if (repository) refuse_arch(ask, image.text, *repository);
        } else {
            continue;
        }
        return;
    }
    Unresolved gap{ask.about().front(), "no fact describes " + image.text, {}};
    if (const auto near = nearest_pytorch(ask, image, tag)) {
        gap.what += fmt::format(" (the nearest that is known is {})", near->text());
        gap.near.push_back(set_to(Field::image, image.name + ":" + near->text()));
    }
    ask.unknown(gap);
}

// A version at the start makes it a release's tag. From some release on these have one form, before they were
// spelled in several; others (latest, nightlies) have none.
void judge_pytorch_reference(Ask& ask, const ImageReference& reference, const std::string& text) {
    const PytorchImage image{text, reference.name, true};
    const auto tag = pytorch_tag(reference.tag);
    const auto parts = text::split(reference.tag, '-');
    if (parts.size() < 2 || !parts[1].starts_with("cuda") || !Version::parse(parts[0])) {
        ask.unknown(Field::image, "no fact describes {}, the facts know the tags of releases", text);
        return;
    }
    const auto policy = image_policy(ask.facts, "pytorch-tag-form");
    const bool one_form = *Version::parse(parts[0]) >= lookup::required_version(policy, "since");
    if (tag && (tag->is_full() || !one_form)) {
        judge_pytorch(ask, image, *tag);
    } else if (!one_form) {
        ask.unknown(Field::image, "no fact describes {}", text);
    } else {
        ask.reject("{} never existed: tags are TORCH-cudaX.Y-cudnnN-runtime or -devel", text)
            .because(policy.ref())
            .other(Field::image);
    }
}

void judge_ngc_reference(Ask& ask, const ImageReference& reference, const std::string& text) {
    if (const auto row = ask.facts.row("ngc-pytorch-" + reference.tag)) {
        accept(ask, text, *row);
        return;
    }
    // The content knows the nearest tag; of one that it cannot read, nothing.
    const auto content = image_content(ask);
    const bool knows_nearest = content && content->gap.what.starts_with("no fact describes");
    ask.unknown(knows_nearest ? content->gap : Unresolved{Field::image, "no fact describes " + text, {}});
}

void judge_other(Ask& ask, const ImageReference& reference, const std::string& text) {
    if (const auto row = other_image(ask.facts, reference)) {
        accept(ask, text, *row);
        return refuse_arch(ask, text, *row);
    }
    ask.unknown_as(
        "no fact describes the images of {}: whether the tag {} exists is unknown; `cudamatrix check --look` asks "
        "its registry",
        reference.repository, reference.tag);
}

// A tag of a repository whose scheme the facts know.
void judge_known_repository(Ask& ask, const Row& repository, const ImageReference& reference,
                            const std::string& text) {
    const auto scheme = repository.text("scheme");
    if (scheme == "pytorch") {
        judge_pytorch_reference(ask, reference, text);
    } else if (scheme == "ngc") {
        judge_ngc_reference(ask, reference, text);
    } else if (scheme == "python") {
        // Of the official image the facts know the slim tags of a minor on a Debian release.
        if (const auto row = ask.facts.row("python-image-" + reference.tag)) {
            accept(ask, text, *row);
        } else {
            ask.unknown(Field::image, "no fact describes {}, the facts know the tags MINOR-slim-DISTRIBUTION",
                        text);
        }
    } else if (const auto image = cuda_image(ask)) {
        judge_cuda_tag(ask, *image);
    } else {
        const CudaImage none{cuda_tag_like(reference.tag), text, reference.name, true, false};
        refuse(ask, none, "does not exist: a tag of nvidia/cuda is CUDA-FLAVOUR-OS", {});
    }
}

// What was seen there is there, where no table knows it; one that was deleted since stays deleted.
void accept_what_was_seen(Ask& ask, const ImageReference& reference, const std::string& text) {
    const auto seen = other_image(ask.facts, reference);
    const auto is_unknown = [](const Finding& finding) { return finding.severity == Severity::unknown; };
    if (!seen || std::erase_if(ask.out(), is_unknown) == 0) return;
    ask.question({Field::image}, "whether it exists");
    accept(ask, text, *seen);
    refuse_arch(ask, text, *seen);
}

void judge_reference(Ask& ask) {
    const auto reference = image_reference(ask.cell.text(Field::image));
    if (reference.pinned) return;  // a digest is pulled whatever its tag is called
    const auto text = fmt::format("image {}:{}", reference.name, reference.tag);
    ask.question({Field::image}, "whether it exists");
    const auto repository = image_repository(ask.facts, reference.repository);
    if (!repository) return judge_other(ask, reference, text);
    judge_known_repository(ask, *repository, reference, text);
    accept_what_was_seen(ask, reference, text);
}

// family: pytorch pulls the image of the cell's torch and its variant.
void judge_pytorch_tag(Ask& ask) {
    const auto repository = family_repository(ask.facts, ask.cell.text(Field::family));
    if (!repository || repository->text("scheme") != "pytorch") return;
    if (!ask.cell.has(Field::flavour) || !wants_torch(ask)) return;
    const auto resolved = torch_build(ask);
    const auto* build = std::get_if<TorchBuild>(&resolved);
    if (build == nullptr || never_published(*build) || !build->torch.wheel) return;
    const auto cuda = build->torch.wheel->text("cuda");
    const auto rows = rows_with(ask.facts, "pytorch_images", "torch", build->torch.exact.text());
    if (cuda.empty()) return;
    // A release has one cuDNN for each of its CUDAs.
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const Row& each) { return contains(each.list("cuda"), cuda); });
    if (row == rows.end()) row = rows.begin();
    const auto name = std::string(repository->text("repository"));
    const auto flavour = ask.cell.text(Field::flavour);
    if (row == rows.end()) {
        ask.question(PytorchImage{}.about(), "whether there is one");
        ask.unknown(Field::torch, "no fact describes images {}:{}-cuda{}-cudnn*-{}", name,
                    build->torch.exact.text(), cuda, flavour);
        return;
    }
    const auto tag = lookup::pytorch_tag_of(*row, cuda, flavour);
    judge_pytorch(ask, {fmt::format("image {}:{}", name, tag.text()), name, false}, tag);
}

// family: ngc pulls the newest image that holds what the cell says.
void judge_ngc_family(Ask& ask, const NgcImage& image) {
    const std::vector<Field> about{Field::family, Field::torch, Field::cuda,
                                   Field::python, Field::os,    Field::arch};
    ask.question(about, "whether there is one");
    if (!image.row) {
        ask.unknown(Field::family, "no fact knows an image {} with {}", image.repository, image.wanted);
        return;
    }
    for (const auto field : {Field::python, Field::os}) {
        const auto name = info(field).name;
        if (!ask.cell.has(field) || image.row->has(name)) continue;
        ask.question(about, fmt::format("whether there is one with {}", image.wanted), name);
        ask.unknown(field, "no fact says which {} is in image {}:{}, the nearest that is known", name,
                    image.repository, image.row->text("tag"))
            .because(image.row->ref());
        return;
    }
    ask.reword(fmt::format("whether there is an image {} with {}", image.repository, image.wanted));
    ask.accept({image.row->ref()});
}

void judge_image_tag_exists(Ask& ask) {
    if (ask.cell.has(Field::image)) {
        judge_reference(ask);
    } else if (const auto ngc = ngc_image_of_family(ask)) {
        judge_ngc_family(ask, *ngc);
    } else if (const auto image = cuda_image(ask)) {
        judge_cuda_tag(ask, *image);
    } else {
        judge_pytorch_tag(ask);
    }
}

}  // namespace

Rule image_tag_exists() {
    return {.id = "image-tag-exists",
            .stage = Stage::image_pull,
            .summary = "The image that the cell names, or that its family is built on, exists.",
            .why =
                "A tag that never existed or was deleted stops the build at its first line, with \"manifest "
                "unknown\" or \"not found\". Repositories that no fact describes, such as a company's own, "
                "get a note: whether a tag is there cannot be known, and a verdict for each would say "
                "nothing.",
            .fails = "image: \"nvidia/cuda:12.4.1-cudnn8-devel-ubuntu22.04\"",
            .passes = "image: \"nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04\"",
            .reads = {Field::family, Field::image, Field::cuda, Field::os, Field::flavour, Field::cudnn,
                      Field::arch, Field::torch, Field::python},
            .needs = {{Field::family, Field::image}},
            .judge = judge_image_tag_exists};
}

}  // namespace cudamatrix::rules
