// A cell may name a devel image and no CUDA. The nvcc inside is the one of the tag all the same: what it
// compiles, and with which compiler, is judged here as the rules of the build stage would that read the CUDA
// (and for pytorch/pytorch the torch) from a field; what the cell does say is theirs.
#include <array>

#include "base/text.hpp"
#include "knowledge/rules/image_content.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// A rule that is asked about the image, with the image's value for `field`, once the cell has one of the two
// others.
struct Asked {
    Rule (*rule)();
    Field field;
    Field with, or_with;
};

constexpr std::array<Asked, 9> kAsked{{
    {cuda_supports_compute, Field::cuda, Field::gpu, Field::compute},
    {compiler_supported_by_cuda, Field::cuda, Field::compiler, Field::compiler},
    {compiler_known_broken, Field::cuda, Field::compiler, Field::compiler},
    {arch_list_known, Field::cuda, Field::arch_list, Field::env},
    {apis_available, Field::cuda, Field::uses, Field::uses},
    {toolkit_matches_torch_cuda, Field::cuda, Field::torch, Field::torch},
    {arch_list_known, Field::torch, Field::arch_list, Field::env},
    {apis_available, Field::torch, Field::uses, Field::uses},
    {torch_takes_compiler, Field::torch, Field::compiler, Field::compiler},
}};

// The policy by which the image holds nvcc; nothing where it does not, or where no fact says it.
std::optional<Row> holds_nvcc(const Facts& facts, const ImageContent& image) {
    const auto policy = image_policy(facts, image.pytorch_tag ? "pytorch-flavours" : "flavours");
    const auto kind = image.pytorch_tag ? std::string_view(image.pytorch_tag->flavour)
                      : image.cuda_tag  ? image.cuda_tag->kind()
                                        : std::string_view();
    if (!contains(policy.list("values"), kind)) return std::nullopt;
    return policy;
}

void judge_content_builds(Ask& ask, const ImageContent& image) {
    const auto& cell = ask.cell;
    for (const auto& asked : kAsked) {
        const auto& value = asked.field == Field::cuda ? image.cuda : image.torch;
        if (value.empty() || cell.has(asked.field)) continue;
        if (!cell.has(asked.with) && !cell.has(asked.or_with)) continue;
        const auto rule = asked.rule();
        judge_as(ask, image, rule, asked.field, value, rule.id);
    }
}

void judge_image_content_builds(Ask& ask) {
    auto image = image_content(ask);
    if (!image) return;
    const auto policy = holds_nvcc(ask.facts, *image);
    if (!policy) return;
    image->facts.push_back(policy->ref());
    judge_content_builds(ask, *image);
    offer_other_tags(ask);
}

}  // namespace

Rule image_content_builds() {
    return {
        .id = "image-content-builds",
        .stage = Stage::build,
        .summary =
            "The nvcc that the image's tag names compiles what the cell asks for, where the cell names no "
            "CUDA.",
        .why =
            "A devel image brings one nvcc, with its fixed lists of GPUs, host compilers and interfaces. "
            "A cell that names the image and not the CUDA has that nvcc none the less: it stops at "
            "\"Unsupported gpu architecture\" or \"unsupported GNU version\" all the same.",
        .fails = "image: \"nvidia/cuda:13.0.2-devel-ubuntu24.04\", compute: \"7.0\"",
        .passes = "image: \"nvidia/cuda:12.9.1-devel-ubuntu24.04\", compute: \"7.0\"",
        .reads = {Field::image, Field::cuda, Field::torch, Field::gpu, Field::compute, Field::compiler,
                  Field::arch_list, Field::uses, Field::arch, Field::flavour, Field::env},
        .needs = {{Field::image},
                  {Field::gpu, Field::compute, Field::compiler, Field::arch_list, Field::env, Field::uses,
                   Field::torch}},
        .judge = judge_image_content_builds};
}

}  // namespace cudamatrix::rules
