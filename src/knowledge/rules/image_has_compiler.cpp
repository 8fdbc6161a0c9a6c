// Building CUDA code needs nvcc and headers, which the small images leave out.
#include "base/text.hpp"
#include "knowledge/resolve/image_fixes.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::build;

void judge(const Context& context, Findings& out) {
    const auto policy = image_policy(context.facts, "flavours");
    const auto image = cuda_image(context);
    if (!image || image->tag.flavour.empty()) return;
    const auto builder = context.cell.has(Field::compiler) ? Field::compiler : Field::arch_list;
    const std::vector<Field> about =
        image->by_reference ? std::vector{Field::image, builder} : std::vector{Field::flavour, builder};
    if (contains(policy.list("values"), image->tag.kind())) {
        accept(context, out, kStage, "", about, "whether " + image->text + " holds nvcc", {policy.ref()});
        return;
    }
    auto error =
        finding(Severity::error, kStage, "", about,
                fmt::format("{} has no nvcc and no headers, which {} {} needs: only devel images have them",
                            image->text, info(builder).name, context.cell.text(builder)),
                {policy.ref()});
    auto tag = image->tag;
    tag.flavour = (tag.has_cudnn() ? tag.flavour.substr(0, tag.flavour.find('-') + 1) : "") + "devel";
    error.fixes.push_back(set_to_tag(*image, tag));
    out.push_back(std::move(error));
}

}  // namespace

Rule image_has_compiler() {
    return {.id = "image-has-compiler",
            .stage = kStage,
            .summary = "A cell that compiles CUDA code starts from an image with nvcc.",
            .why =
                "The base and runtime flavours of nvidia/cuda hold libraries only. A build in them ends with "
                "\"nvcc: not found\" or \"CUDA_HOME environment variable is not set\", or silently without "
                "CUDA.",
            .fails = "image: \"nvidia/cuda:12.4.1-runtime-ubuntu22.04\", compiler: gcc-11",
            .passes = "image: \"nvidia/cuda:12.4.1-devel-ubuntu22.04\", compiler: gcc-11",
            .reads = {Field::image, Field::family, Field::cuda, Field::os, Field::flavour, Field::cudnn,
                      Field::compiler, Field::arch_list},
            .needs = {{Field::image, Field::family}, {Field::compiler, Field::arch_list}},
            .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
