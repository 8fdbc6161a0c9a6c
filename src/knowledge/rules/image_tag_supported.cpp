// Images of nvidia/cuda past their end: nobody rebuilds them when a hole is found, and NVIDIA deletes them.
#include "knowledge/resolve/images.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// The newest update of the same minor that has images and was out by then, where it is newer.
std::optional<Row> newer_update(const Facts& facts, const Row& row, std::string_view today) {
    const auto mine = lookup::required_version(row, "cuda");
    std::optional<Row> best;
    for (const auto& other : facts.rows("cuda_images")) {
        const auto version = lookup::required_version(other, "cuda");
        if (version.major_minor() != mine.major_minor() || version <= mine) continue;
        const auto release = lookup::cuda(facts, other.text("cuda"));
        const bool is_later = release && release->release && release->release->text("released") > today;
        if (other.text("status") == "deleted" || is_later) continue;
        best = other;  // the rows are sorted
    }
    return best;
}

// "image X is past its end of life since 2024-11-02 and can be deleted any day".
std::string past_end(const Context& context, const CudaImage& image, const Row& row, const Row& policy) {
    auto text = image.text + " is past its end of life";
    const auto since = row.text("marked_eol");
    if (since.empty()) return text;
    const auto months = Version::parse(policy.text("months"));
    const auto end = months_later(since, months ? months->major() : 0);
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
        ask.degrade("{}", past_end(ask, *image, *row, policy))
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
