#include "commands/refresh_images.hpp"

#include <utility>

#include "base/image_reference.hpp"
#include "base/text.hpp"
#include "look/measure/image_news.hpp"

namespace cudamatrix {
namespace {

using measure::MeasuredRow;

std::string where_of(const MeasuredRow& row) {
    const auto* source = row.cell("source");
    return source == nullptr ? std::string()
                             : source->values.front().substr(0, source->values.front().find(' '));
}

// What the images of a release demand (NVIDIA_REQUIRE_CUDA) is one row of several groups. Where two of them
// disagree no row can hold both.
void add_row(MeasuredRow row, const Facts& facts, Gathered& gathered) {
    const auto* first = gathered.add(row);
    if (first == nullptr) return;
    const auto second = measure::compare(std::move(row), facts).row;
    for (const auto& column : measure::differing_columns(first->row, second)) {
        gathered.report.left_out.push_back(fmt::format("row '{}': {} in {}, kept is {} of {}", second.id,
                                                       shown(second, column), where_of(second),
                                                       shown(first->row, column), where_of(first->row)));
    }
}

}  // namespace

void refresh_images(const Row& repository, const Facts& facts, Http& http, OciClient& registry,
                    const std::function<bool()>& stopped, Gathered& gathered) {
    const auto name = std::string(repository.text("repository"));
    const auto reference = parse_image_reference(name);
    const auto place = reference.ok() ? place_of(*reference, http.options().mirrors)
                                      : Result<ImagePlace>(reference.failure());
    if (!place.ok()) return gathered.lost(name, name, place.failure());
    const auto origin = place->origin();
    if (gathered.given_up(origin, name)) return;
    fmt::print(stderr, "refresh: {}\n", name);
    const auto tags = registry.tags(*reference);
    if (!tags.ok()) return gathered.lost(origin, name, tags.failure());
    gathered.reached(origin);
    const auto news = measure::image_news(*tags, repository, facts);
    gathered.add(news.changes);
    for (const auto& group : news.groups) {
        if (stopped()) return;
        auto tagged = *reference;
        tagged.tag = group.read;
        fmt::print(stderr, "refresh: {}\n", tagged.text());
        const auto image = measure::see_image(registry, tagged);
        auto rows = image.ok() ? measure::image_rows(group, repository, *image, facts)
                               : Result<std::vector<MeasuredRow>>(image.failure());
        if (!rows.ok()) {
            gathered.report.not_measured.push_back(rows.failure().diagnostics.front().message);
            continue;
        }
        for (auto& row : *rows)
            add_row(std::move(row), facts, gathered);
    }
}

}  // namespace cudamatrix
