// torch.compile compiles where it runs: its triton needs a C compiler there, which small images leave out.
#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

void warn(Ask& ask, std::string_view torch, std::string_view image, const Row& policy, FixOption devel) {
    ask.reject(
           "torch.compile of {} needs a C compiler where it runs, and {} holds none: \"Failed to find "
           "C compiler\"; eager mode works, and so does an image with the package gcc added",
           torch, image)
        .because(policy.ref())
        .because(ask.facts.row("policy-triton-c-compiler"))
        .fix(std::move(devel));
}

void judge_cuda(Ask& ask, const CudaImage& image) {
    const auto policy = image_policy(ask.facts, "c-compiler");
    if (image.pinned || !wants_torch(ask)) return;
    const auto field = image.by_reference ? Field::image : Field::flavour;
    if (!contains(policy.list("values"), image.tag.kind())) {
        ask.question({field}, fmt::format("whether {} holds a C compiler for torch.compile", image.text));
        return ask.record_pass({policy.ref()});
    }
    const auto build = if_known(torch_build(ask));
    if (!build || never_published(*build) || build->torch.variant == "cpu" ||
        !compile_row(ask.facts, build->torch.exact.text()))
        return;
    auto tag = image.tag;
    tag.flavour = (tag.has_cudnn() ? tag.flavour.substr(0, tag.flavour.find('-') + 1) : "") + "devel";
    ask.question({field, Field::torch}, {});
    warn(ask, build->text, image.text, policy, set_to_tag(image, tag));
}

void judge_pytorch(Ask& ask, const ImageReference& reference, PytorchTag tag) {
    const auto policy = image_policy(ask.facts, "pytorch-c-compiler");
    const auto since = Version::parse(policy.text("since"));
    if (!since || *Version::parse(tag.torch) >= *since || !contains(policy.list("values"), tag.flavour) ||
        !compile_row(ask.facts, tag.release()))
        return;
    tag.flavour = "devel";
    ask.question({Field::image}, {});
    warn(ask, "torch " + tag.release(), fmt::format("image {}:{}", reference.name, reference.tag), policy,
         set_to(Field::image, reference.name + ":" + tag.text()));
}

void judge_torch_compile_has_c_compiler(Ask& ask) {
    if (const auto image = cuda_image(ask)) return judge_cuda(ask, *image);
    if (!ask.cell.has(Field::image)) return;
    const auto reference = image_reference(ask.cell.text(Field::image));
    const auto repository = image_repository(ask.facts, reference.repository);
    const auto tag = pytorch_tag(reference.tag);
    if (repository && repository->text("scheme") == "pytorch" && tag && !reference.pinned)
        judge_pytorch(ask, reference, *tag);
}

}  // namespace

Rule torch_compile_has_c_compiler() {
    return {.id = "torch-compile-has-c-compiler",
            .stage = Stage::torch_compile,
            .summary = "An image in which torch.compile runs holds a C compiler.",
            .why =
                "triton compiles a launcher for each kernel when it first runs, with the C compiler of the "
                "machine. The base and runtime flavours of nvidia/cuda and the older runtime images of "
                "pytorch/pytorch have none.",
            .fails = "image: \"nvidia/cuda:12.4.1-runtime-ubuntu22.04\", torch: 2.6.0+cu124",
            .passes = "image: \"nvidia/cuda:12.4.1-devel-ubuntu22.04\", torch: 2.6.0+cu124",
            .reads = {Field::image, Field::family, Field::cuda, Field::os, Field::flavour, Field::cudnn,
                      Field::torch, Field::arch},
            .needs = {{Field::image, Field::family}},
            .judge = judge_torch_compile_has_c_compiler};
}

}  // namespace cudamatrix::rules
