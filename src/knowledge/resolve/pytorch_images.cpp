#include "knowledge/resolve/pytorch_images.hpp"

namespace cudamatrix::rules {

std::vector<FixOption> pytorch_options(const Context& context, const PytorchImage& image,
                                       std::string_view torch, std::string_view flavour) {
    std::vector<FixOption> same, near;
    const auto wanted = Version::parse(torch);
    if (!image.by_reference) return same;
    for (const auto& row : context.facts.rows("pytorch_images")) {
        const auto version = lookup::required_version(row, "torch");
        if (row.text("exists") != "true" || version.major_minor() != wanted->major_minor()) continue;
        for (const auto cuda : row.list("cuda")) {
            const auto has = contains(row.list("flavours"), flavour);
            const auto tag = lookup::pytorch_tag_of(row, cuda, has ? flavour : row.list("flavours").back());
            (version == *wanted ? same : near).push_back(set_to(Field::image, image.name + ":" + tag.text()));
        }
    }
    return same.empty() ? near : same;
}

std::optional<PytorchTag> nearest_pytorch(const Context& context, const PytorchImage& image,
                                          const PytorchTag& tag) {
    const auto torch = Version::parse(tag.release()), cuda = Version::parse(tag.cuda);
    if (!image.by_reference) return std::nullopt;
    std::optional<PytorchTag> best;
    for (const auto& row : context.facts.rows("pytorch_images")) {
        if (row.text("exists") != "true" || lookup::required_version(row, "torch") > *torch ||
            !contains(row.list("flavours"), tag.flavour))
            continue;
        auto chosen = row.list("cuda").front();
        for (const auto listed_cuda : row.list("cuda")) {
            if (*Version::parse(listed_cuda) <= *cuda) chosen = listed_cuda;
        }
        best = lookup::pytorch_tag_of(row, chosen, tag.flavour);
    }
    return best;
}

}  // namespace cudamatrix::rules
