// Images of nvidia/cuda past their end: nobody rebuilds them when a hole is found, and NVIDIA deletes them.
#include "knowledge/resolve/images.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// The newest update of the same minor that was out by then, where it is newer.
std::optional<Row> newer_update(const Facts& facts, const Row& row, std::string_view today) {
    auto newer = lookup::newer_updates(facts, row);
    std::erase_if(newer, [&](const Row& update) {
        const auto known = lookup::cuda(facts, update.text("cuda"));
        return known && known->release && known->release->text("released") > today;
    });
    return newer.empty() ? std::nullopt : std::optional(newer.back());
}

// "image X is past its end of life since 2024-11-02 and can be deleted any day".
std::string past_end(const Context& context, const CudaImage& image, const Row& row) {
    auto text = image.text + " is past its end of life";
    const auto since = row.text("marked_eol");
    if (since.empty()) return text;
    const auto end = deletable_from(context.facts, since);
    return text + fmt::format(" since {} and can be deleted {}", since,
                              end <= context.today ? "any day" : "from " + end + " on");
}

void judge_image_tag_supported(Ask& ask) {
    const auto image = cuda_image(ask);
    if (!image || image->pinned) return;
    const auto row = cuda_image_row(cuda_release_images(ask.facts, image->tag.cuda), image->tag);
    if (!row || row->text("status") == "deleted") return;  // see image-tag-exists
    ask.question(
        image->by_reference ? std::vector{Field::image} : std::vector{Field::cuda, Field::os, Field::family},
        "whether " + image->text + " is supported");
    const auto policy = image_policy(ask.facts, "cuda-lifetime");
    // A day of the past does not know what NVIDIA did later.
    const auto over = lookup::superseded(ask.facts, *row);
    if (over && over->day > ask.today) return ask.accept({row->ref()});
    if (row->text("status") == "eol") {
        ask.degrade("{}", past_end(ask, *image, *row))
            .because(row->ref())
            .because(policy.ref())
            .other(Field::image)
            .at_least(Field::image);
    } else if (const auto newer = newer_update(ask.facts, *row, ask.today)) {
        ask.degrade("{} is no longer supported: its update CUDA {} has images", image->text,
                    newer->text("cuda"))
            .because({row->ref(), newer->ref(), policy.ref()})
            .other(Field::image)
            .at_least(Field::image);
    } else {
        ask.accept({row->ref()});
    }
}

}  // namespace

Rule image_tag_supported() {
    return {.id = "image-tag-supported",
            .stage = Stage::image_pull,
            .summary = "The nvidia/cuda image is still supported by NVIDIA.",
            .why =
                "Of each CUDA minor only the newest update keeps its images; older ones get no security "
                "fixes from the day that a newer one is out, and may be deleted six months later. A "
                "Dockerfile that builds today then ends in \"manifest unknown\".",
            .fails = "image: \"nvidia/cuda:12.6.0-devel-ubuntu22.04\"",
            .passes = "image: \"nvidia/cuda:12.6.3-devel-ubuntu22.04\"",
            .reads = {Field::family, Field::image, Field::cuda, Field::os, Field::flavour, Field::cudnn},
            .needs = {{Field::family, Field::image}},
            .judge = judge_image_tag_supported};
}

}  // namespace cudamatrix::rules
