// Is there such a cuDNN, and one for the CUDA of the image? Each release is published for a few majors of
// CUDA, and its libraries link those of one of them.
#include "knowledge/resolve/cudnn.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// "8.0.0 to 9.10.2", "9.12.0 and newer", "7.6.5 and older".
std::string published(const Row& row) {
    if (!row.has("last")) return fmt::format("{} and newer", row.text("first"));
    if (!row.has("first")) return fmt::format("{} and older", row.text("last"));
    return fmt::format("{} to {}", row.text("first"), row.text("last"));
}

void judge_cudnn_published_for_cuda(Ask& ask) {
    const auto text = ask.cell.text(Field::cudnn);
    ask.question({Field::cudnn}, "whether it was published");
    const auto known = known_cudnn(ask);
    if (!known) {
        ask.unknown(unknown_cudnn(ask));
        return;
    }
    const auto major = cuda_major(ask);
    ask.question({Field::cudnn}, fmt::format("whether cuDNN {} was published", text));
    if (!major) return ask.accept({*known});  // other rules report a CUDA that no fact knows
    ask.question({Field::cudnn, Field::cuda},
                 fmt::format("whether {} was published", cudnn_text(text, *major)));
    if (const auto row = never_for_cuda(ask, *major)) {
        ask.reject("{} was never published: for that CUDA there are {}", cudnn_text(text, *major),
                   published(*row))
            .because(row->ref())
            .accepted_other(Field::cudnn)
            .accepted_other(Field::cuda);
        return;
    }
    for (const auto& row : cudnn_releases(ask)) {
        if (row.text("cuda_major") == *major) return ask.accept({row.ref()});
    }
    const auto range = ask.facts.row("cudnn-cuda-" + *major);
    if (!range) {
        ask.unknown(Field::cudnn, "no fact lists the releases of cuDNN for CUDA {}", *major);
        return;
    }
    ask.accept({*known, range->ref()}, "whether cuDNN {} is among the releases for CUDA {}, which are {}",
               text, *major, published(*range));
}

}  // namespace

Rule cudnn_published_for_cuda() {
    return {
        .id = "cudnn-published-for-cuda",
        .stage = Stage::install,
        .summary = "The cuDNN exists, for the CUDA of the image.",
        .why =
            "A release of cuDNN is published for one to three majors of CUDA, whose libraries it loads by name. "
            "For another one there is no package to install (\"Unable to locate package libcudnn9-cuda-11\", "
            "\"No matching distribution found for nvidia-cudnn-cu11\"), and one of another major finds no "
            "libcublas.",
        .fails = "cuda: 11.8.0, cudnn: \"9.24\"",
        .passes = "cuda: 12.9.1, cudnn: \"9.24\"",
        .reads = {Field::cudnn, Field::cuda},
        .needs = {{Field::cudnn}},
        .judge = judge_cudnn_published_for_cuda};
}

}  // namespace cudamatrix::rules
