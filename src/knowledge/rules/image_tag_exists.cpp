// Can the image be pulled at all? Tags of nvidia/cuda end and are deleted, and many that circulate in
// Dockerfiles never were. Of a repository that no fact describes nothing can be said, which is a note: a
// verdict "unknown" on every private image would make the verdicts of such a matrix worthless.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/image_fixes.hpp"
#include "knowledge/resolve/pytorch_images.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/image_content.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::image_pull;

std::vector<Field> about_of(const CudaImage& image) {
    if (image.by_reference) return {Field::image};
    return {Field::cuda, Field::os, Field::flavour, Field::cudnn, Field::family};
}

void refuse(const Context& context, const CudaImage& image, const std::string& why,
            std::vector<FactRef> facts, Findings& out) {
    if (facts.empty()) cite(facts, context.facts, "image-policy-cuda-tag-form");
    auto error =
        finding(Severity::error, kStage, "", about_of(image), image.text + " " + why, std::move(facts));
    if (context.wants_fixes) error.fixes = nearest_cuda_images(context.facts, image);
    out.push_back(std::move(error));
}

// The row, of an image or of its repository, may list the processors.
void refuse_arch(const Context& context, const std::string& image, Field field, const Row& row,
                 Findings& out) {
    const auto arch = context.cell.text(Field::arch);
    if (arch.empty() || !row.has("arch") || contains(row.list("arch"), arch)) return;
    auto error =
        finding(Severity::error, kStage, "arch", {Field::arch, field},
                fmt::format("{} is not built for {}: it is for {}", image, arch, listed(row.list("arch"))),
                {row.ref()});
    for (const auto built : row.list("arch"))
        error.fixes.push_back(set_to(Field::arch, built));
    out.push_back(std::move(error));
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

void judge_cuda(const Context& context, const CudaImage& image, Findings& out) {
    const auto release = cuda_release_images(context.facts, image.tag.cuda);
    const auto row = cuda_image_row(release, image.tag);
    std::vector<FactRef> facts;
    for (const auto& known : release.rows)
        facts.push_back(known.ref());
    if (facts.size() > 2) facts.resize(2);
    const bool all_deleted = !release.rows.empty() && !release.rows.front().has("os");
    if (all_deleted || (row && row->text("status") == "deleted")) {
        cite(facts, context.facts, "image-policy-cuda-lifetime");
        refuse(context, image,
               fmt::format("no longer exists: the images of CUDA {}{} were deleted", image.tag.cuda,
                           all_deleted ? "" : " on " + image.tag.os),
               row ? std::vector{row->ref()} : std::move(facts), out);
        return;
    }
    if (row) {
        accept(context, out, kStage, "", about_of(image), "whether " + image.text + " exists", {row->ref()});
        refuse_arch(context, image.text, image.field, *row, out);
        return;
    }
    if (release.settled) {
        if (facts.empty()) facts = neighbours(context, image.tag);
        refuse(context, image, absence(release, image.tag), std::move(facts), out);
        return;
    }
    Unresolved gap{image.field, "no fact describes " + image.text, {}};
    const auto near = nearest_cuda_tags(context.facts, image.tag);
    gap.what += fmt::format(" (the nearest that is known is {})", near.front().text());
    gap.near.push_back(set_to_tag(image, near.front()));
    out.push_back(unknown(kStage, "", about_of(image), gap, "whether it exists"));
}

// The parts of a tag that is none, for the search of the nearest.
CudaTag guessed(std::string_view tag) {
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

void judge_pytorch(const Context& context, const PytorchImage& image, const PytorchTag& tag, Findings& out) {
    const auto about = image.about();
    const auto reject = [&](const std::string& why, FactRef fact) {
        auto error = finding(Severity::error, kStage, "", about, image.text + " never existed: " + why,
                             {std::move(fact)});
        error.fixes = pytorch_options(context, image, tag.torch, tag.flavour);
        out.push_back(std::move(error));
    };
    const auto release = context.facts.row("torch-" + tag.release());
    if (release && release->text("complete") == "true" &&
        !contains(release->list("variants"), tag.variant())) {
        reject(fmt::format("torch {} has no build for CUDA {}, it has {}", tag.release(), tag.cuda,
                           listed(release->list("variants"))),
               release->ref());
        return;
    }
    for (const auto& row : rows_with(context.facts, "pytorch_images", "torch", tag.release())) {
        if (!contains(row.list("cuda"), tag.cuda) || !lookup::spells_torch(row, tag)) continue;
        if (row.text("exists") != "true") {
            reject(fmt::format("torch {} was pushed for another CUDA only", tag.torch), row.ref());
        } else if (row.text("cudnn") != tag.cudnn) {
            reject(fmt::format("the tags of torch {} say cudnn{}", tag.torch, row.text("cudnn")), row.ref());
        } else if (contains(row.list("flavours"), tag.flavour)) {
            accept(context, out, kStage, "", about, "whether " + image.text + " exists", {row.ref()});
            const auto repository = image_repository(context.facts, image_reference(image.name).repository);
            if (repository) refuse_arch(context, image.text, about.front(), *repository, out);
        } else {
            continue;
        }
        return;
    }
    Unresolved gap{about.front(), "no fact describes " + image.text, {}};
    if (const auto near = nearest_pytorch(context, image, tag)) {
        gap.what += fmt::format(" (the nearest that is known is {})", near->text());
        gap.near.push_back(set_to(Field::image, image.name + ":" + near->text()));
    }
    out.push_back(unknown(kStage, "", about, gap, "whether it exists"));
}

// A version at the start makes it a release's tag. From some release on these have one form, before they were
// spelled in several; others (latest, nightlies) have none.
void judge_pytorch_reference(const Context& context, const ImageReference& reference, const std::string& text,
                             Findings& out) {
    const PytorchImage image{text, reference.name, true};
    const auto tag = pytorch_tag(reference.tag);
    const auto parts = text::split(reference.tag, '-');
    if (parts.size() < 2 || !parts[1].starts_with("cuda") || !Version::parse(parts[0])) {
        out.push_back(finding(Severity::note, kStage, "", {Field::image},
                              fmt::format("{}: the facts describe tags of releases only", text), {}));
        return;
    }
    const auto policy = image_policy(context.facts, "pytorch-tag-form");
    const bool one_form = *Version::parse(parts[0]) >= lookup::required_version(policy, "since");
    if (tag && (tag->is_full() || !one_form)) {
        judge_pytorch(context, image, *tag, out);
        return;
    }
    if (!one_form) {
        const Unresolved gap{Field::image, "no fact describes " + text, {}};
        out.push_back(unknown(kStage, "", {Field::image}, gap, "whether it exists"));
        return;
    }
    auto error =
        finding(Severity::error, kStage, "", {Field::image},
                text + " never existed: tags are TORCH-cudaX.Y-cudnnN-runtime or -devel", {policy.ref()});
    error.fixes = pytorch_options(context, image, parts[0], "devel");
    out.push_back(std::move(error));
}

// Of the official image python the facts know the slim tags of a minor on a Debian release, of many others
// not.
void judge_python(const Context& context, const ImageReference& reference, const std::string& text,
                  Findings& out) {
    if (const auto row = context.facts.row("python-image-" + reference.tag)) {
        accept(context, out, kStage, "", {Field::image}, "whether " + text + " exists", {row->ref()});
        return;
    }
    out.push_back(finding(Severity::note, kStage, "", {Field::image},
                          fmt::format("{}: the facts describe the tags MINOR-slim-DISTRIBUTION only", text),
                          {}));
}

void judge_reference(const Context& context, Findings& out) {
    auto reference = image_reference(context.cell.text(Field::image));
    if (reference.pinned) return;  // a digest is pulled whatever its tag is called
    if (reference.tag.empty()) reference.tag = "latest";
    const auto text = fmt::format("image {}:{}", reference.name, reference.tag);
    const auto repository = image_repository(context.facts, reference.repository);
    if (!repository) {
        out.push_back(
            finding(Severity::note, kStage, "", {Field::image},
                    fmt::format("no fact describes the images of {}: whether the tag exists is not checked",
                                reference.repository),
                    {}));
        return;
    }
    const auto scheme = repository->text("scheme");
    if (scheme == "pytorch") {
        judge_pytorch_reference(context, reference, text, out);
    } else if (scheme == "ngc") {
        if (const auto row = context.facts.row("ngc-pytorch-" + reference.tag)) {
            accept(context, out, kStage, "", {Field::image}, "whether " + text + " exists", {row->ref()});
        } else {
            // The content knows the nearest tag; of one that it cannot read, nothing.
            const auto content = image_content(context);
            auto gap = content && content->gap.what.starts_with("no fact describes")
                           ? content->gap
                           : Unresolved{Field::image, "no fact describes " + text, {}};
            out.push_back(unknown(kStage, "", {Field::image}, gap, "whether it exists"));
        }
    } else if (scheme == "python") {
        judge_python(context, reference, text, out);
    } else if (const auto image = cuda_image(context)) {
        judge_cuda(context, *image, out);
    } else {
        const CudaImage none{guessed(reference.tag), text, reference.name, true, false};
        refuse(context, none, "does not exist: a tag of nvidia/cuda is CUDA-FLAVOUR-OS", {}, out);
    }
}

// family: pytorch pulls the image of the cell's torch and its variant.
void judge_pytorch_family(const Context& context, Findings& out) {
    const auto repository = family_repository(context.facts, context.cell.text(Field::family));
    if (!repository || repository->text("scheme") != "pytorch") return;
    if (!context.cell.has(Field::flavour) || !wants_torch(context)) return;
    const auto resolved = torch_build(context);
    const auto* build = std::get_if<TorchBuild>(&resolved);
    if (build == nullptr || never_published(*build) || !build->torch.wheel) return;
    const auto cuda = build->torch.wheel->text("cuda");
    const auto rows = rows_with(context.facts, "pytorch_images", "torch", build->torch.exact.text());
    if (cuda.empty()) return;
    // A release has one cuDNN for each of its CUDAs.
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const Row& each) { return contains(each.list("cuda"), cuda); });
    if (row == rows.end()) row = rows.begin();
    const auto name = std::string(repository->text("repository"));
    if (row == rows.end()) {
        const Unresolved gap{Field::torch,
                             fmt::format("no fact describes images {}:{}-cuda{}-cudnn*-{}", name,
                                         build->torch.exact.text(), cuda, context.cell.text(Field::flavour)),
                             {}};
        out.push_back(unknown(kStage, "", PytorchImage{}.about(), gap, "whether there is one"));
        return;
    }
    const auto tag = lookup::pytorch_tag_of(*row, cuda, context.cell.text(Field::flavour));
    judge_pytorch(context, {fmt::format("image {}:{}", name, tag.text()), name, false}, tag, out);
}

// family: ngc pulls the newest image that holds what the cell says.
void judge_ngc_family(const Context& context, const NgcImage& image, Findings& out) {
    const std::vector<Field> about{Field::family, Field::torch, Field::cuda,
                                   Field::python, Field::os,    Field::arch};
    if (!image.row) {
        const Unresolved gap{Field::family,
                             fmt::format("no fact knows an image {} with {}", image.repository, image.wanted),
                             {}};
        out.push_back(unknown(kStage, "", about, gap, "whether there is one"));
        return;
    }
    for (const auto field : {Field::python, Field::os}) {
        if (!context.cell.has(field) || image.row->has(info(field).name)) continue;
        const Unresolved gap{field,
                             fmt::format("no fact says which {} is in image {}:{}, the nearest that is known",
                                         info(field).name, image.repository, image.row->text("tag")),
                             {}};
        out.push_back(unknown(kStage, info(field).name, about, gap,
                              fmt::format("whether there is one with {}", image.wanted)));
        out.back().facts = {image.row->ref()};
        return;
    }
    accept(context, out, kStage, "", about,
           fmt::format("whether there is an image {} with {}", image.repository, image.wanted),
           {image.row->ref()});
}

void judge(const Context& context, Findings& out) {
    if (context.cell.has(Field::image)) {
        judge_reference(context, out);
    } else if (const auto ngc = ngc_image_of_family(context)) {
        judge_ngc_family(context, *ngc, out);
    } else if (const auto image = cuda_image(context)) {
        judge_cuda(context, *image, out);
    } else {
        judge_pytorch_family(context, out);
    }
}

}  // namespace

Rule image_tag_exists() {
    return {.id = "image-tag-exists",
            .stage = kStage,
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
            .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
