// Building CUDA code needs nvcc and headers, which the small images leave out.
#include "knowledge/resolve/images.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

void judge_image_has_compiler(Ask& ask) {
    const auto policy = image_policy(ask.facts, "flavours");
    const auto image = cuda_image(ask);
    if (!image || image->tag.flavour.empty()) return;
    const auto builder = ask.cell.has(Field::compiler) ? Field::compiler : Field::arch_list;
    ask.question({image->by_reference ? Field::image : Field::flavour, builder},
                 "whether " + image->text + " holds nvcc");
    if (contains(policy.list("values"), image->tag.kind())) {
        ask.accept({policy.ref()});
        return;
    }
    auto tag = image->tag;
    tag.flavour = (tag.has_cudnn() ? tag.flavour.substr(0, tag.flavour.find('-') + 1) : "") + "devel";
    ask.reject("{} has no nvcc and no headers, which {} {} needs: only devel images have them", image->text,
               info(builder).name, ask.cell.text(builder))
        .because(policy.ref())
        .fix(set_to_tag(*image, tag));
}

}  // namespace

Rule image_has_compiler() {
    return {.id = "image-has-compiler",
            .stage = Stage::build,
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
            .judge = judge_image_has_compiler};
}

}  // namespace cudamatrix::rules
