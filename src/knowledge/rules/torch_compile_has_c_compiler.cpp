// torch.compile compiles on the machine that it runs on: its triton needs a C compiler there, which small
// images leave out.
#include "base/text.hpp"
#include "knowledge/resolve/image_fixes.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::torch_compile;

void warn(const Context& context, std::string_view torch, std::string_view image, std::vector<Field> about,
          const Row& policy, FixOption devel, Findings& out) {
    std::vector<FactRef> facts{policy.ref()};
    cite(facts, context.facts, "policy-triton-c-compiler");
    auto warning = finding(
        Severity::warning, kStage, "", std::move(about),
        fmt::format(
            "torch.compile of {} needs a C compiler where it runs, and {} holds none: \"Failed to find "
            "C compiler\"; eager mode works, and so does an image with the package gcc added",
            torch, image),
        std::move(facts));
    warning.fixes.push_back(std::move(devel));
    out.push_back(std::move(warning));
}

bool has_torch_compile(const Facts& facts, std::string_view torch) {
    return facts.row(fmt::format("torch-compile-{}", torch)).has_value();
}

void judge_cuda(const Context& context, const CudaImage& image, Findings& out) {
    const auto policy = image_policy(context.facts, "c-compiler");
    if (image.pinned || !wants_torch(context)) return;
    if (!contains(policy.list("values"), image.tag.kind())) {
        return passed(context, [&] {
            return Acceptance{{},
                              kStage,
                              {image.by_reference ? Field::image : Field::flavour},
                              fmt::format("whether {} holds a C compiler for torch.compile", image.text),
                              {policy.ref()}};
        });
    }
    const auto resolved = torch_build(context);
    const auto* build = std::get_if<TorchBuild>(&resolved);
    if (build == nullptr || never_published(*build) || build->torch.variant == "cpu" ||
        !has_torch_compile(context.facts, build->torch.exact.text()))
        return;
    auto tag = image.tag;
    tag.flavour = (tag.has_cudnn() ? tag.flavour.substr(0, tag.flavour.find('-') + 1) : "") + "devel";
    warn(context, build->text, image.text, {image.by_reference ? Field::image : Field::flavour, Field::torch},
         policy, set_to_tag(image, tag), out);
}

void judge_pytorch(const Context& context, const ImageReference& reference, PytorchTag tag, Findings& out) {
    const auto policy = image_policy(context.facts, "pytorch-c-compiler");
    const auto since = Version::parse(policy.text("since"));
    if (!since || *Version::parse(tag.torch) >= *since || !contains(policy.list("values"), tag.flavour) ||
        !has_torch_compile(context.facts, tag.release()))
        return;
    const auto name = fmt::format("image {}:{}", reference.name, reference.tag);
    tag.flavour = "devel";
    warn(context, "torch " + tag.release(), name, {Field::image}, policy,
         set_to(Field::image, reference.name + ":" + tag.text()), out);
}

void judge(const Context& context, Findings& out) {
    if (const auto image = cuda_image(context)) {
        judge_cuda(context, *image, out);
        return;
    }
    if (!context.cell.has(Field::image)) return;
    const auto reference = image_reference(context.cell.text(Field::image));
    const auto repository = image_repository(context.facts, reference.repository);
    const auto tag = pytorch_tag(reference.tag);
    if (repository && repository->text("scheme") == "pytorch" && tag && !reference.pinned)
        judge_pytorch(context, reference, *tag, out);
}

}  // namespace

Rule torch_compile_has_c_compiler() {
    return {.id = "torch-compile-has-c-compiler",
            .stage = kStage,
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
            .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
