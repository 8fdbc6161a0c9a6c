#include "look/measure/gathered.hpp"

#include <algorithm>
#include <utility>

#include "base/image_reference.hpp"
#include "base/mirrors.hpp"
#include "base/text.hpp"
#include "look/measure/image_news.hpp"
#include "registry/url.hpp"

namespace cudamatrix::measure {
namespace {

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
    const auto second = compare(std::move(row), facts).row;
    for (const auto& column : differing_columns(first->row, second)) {
        gathered.report.left_out.push_back(fmt::format("row '{}': {} in {}, kept is {} of {}", second.id,
                                                       shown(second, column), where_of(second),
                                                       shown(first->row, column), where_of(first->row)));
    }
}

}  // namespace

bool Gathered::given_up(const std::string& url, const std::string& what) {
    if (silent_.count(origin_of(url)) == 0) return false;
    report.not_reached.push_back({what, fmt::format("{} did not answer before", url::shown(url))});
    return true;
}

void Gathered::lost(const std::string& url, const std::string& what, const Failure& failure) {
    if (failure.code == ExitCode::environment && answered_.count(origin_of(url)) == 0)
        silent_.insert(origin_of(url));
    report.not_reached.push_back({what, failure.diagnostics.front().message});
}

void Gathered::reached(const std::string& url) {
    answered_.insert(origin_of(url));
    ++report.places;
}

void Gathered::add(const std::vector<Change>& changes) {
    report.changes.insert(report.changes.end(), changes.begin(), changes.end());
}

Compared* Gathered::add(MeasuredRow row) {
    const auto there = std::find_if(report.rows.begin(), report.rows.end(),
                                    [&](const Compared& other) { return other.row.id == row.id; });
    if (there != report.rows.end()) return &*there;
    report.rows.push_back(compare(std::move(row), facts_));
    return nullptr;
}

std::string Gathered::origin_of(const std::string& url) const {
    const auto parts = url::parse(mirrored(url, http_.options().mirrors));
    return parts ? parts->origin() : std::string();
}

void refresh_images(const Row& repository, const Facts& facts, Http& http, OciClient& registry,
                    Gathered& gathered) {
    const auto name = std::string(repository.text("repository"));
    const auto reference = parse_image_reference(name);
    const auto place = reference.ok() ? place_of(*reference, http.options().mirrors)
                                      : Result<ImagePlace>(reference.failure());
    if (!place.ok()) return gathered.lost(name, name, place.failure());
    const auto origin = place->origin();
    if (gathered.given_up(origin, name)) return;
    gathered.log(name);
    const auto tags = registry.tags(*reference);
    if (!tags.ok()) return gathered.lost(origin, name, tags.failure());
    gathered.reached(origin);
    const auto news = image_news(*tags, repository, facts);
    gathered.add(news.changes);
    for (const auto& group : news.groups) {
        if (gathered.stopped()) return;
        auto tagged = *reference;
        tagged.tag = group.read;
        gathered.log(tagged.text());
        const auto image = see_image(registry, tagged);
        auto rows = image.ok() ? image_rows(group, repository, *image, facts)
                               : Result<std::vector<MeasuredRow>>(image.failure());
        if (!rows.ok()) {
            gathered.report.not_measured.push_back(rows.failure().diagnostics.front().message);
            continue;
        }
        for (auto& row : *rows)
            add_row(std::move(row), facts, gathered);
    }
}

}  // namespace cudamatrix::measure
