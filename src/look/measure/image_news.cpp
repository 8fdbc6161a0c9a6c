#include "look/measure/image_news.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text.hpp"

namespace cudamatrix::measure {
namespace {

using TagSets = std::map<std::string, std::set<std::string>>;  // by release

constexpr std::size_t kMostShown = 5;

std::vector<std::string> without(const std::set<std::string>& tags, const std::set<std::string>& others) {
    std::vector<std::string> out;
    std::set_difference(tags.begin(), tags.end(), others.begin(), others.end(), std::back_inserter(out));
    return out;
}

// "13.6.0-base-ubuntu24.04, 13.6.0-devel-ubuntu24.04 and 10 more".
std::string shown_tags(const std::vector<std::string>& tags) {
    if (tags.size() <= kMostShown) return text::join(tags, ", ");
    return fmt::format("{} and {} more", text::join({tags.begin(), tags.begin() + kMostShown}, ", "),
                       tags.size() - kMostShown);
}

std::optional<Version> oldest(const TagSets& known) {
    std::optional<Version> out;
    for (const auto& each : known) {
        auto version = image_version(each.first);
        if (version && (!out || *version < *out)) out = std::move(version);
    }
    return out;
}

}  // namespace

ImageNews image_news(const std::vector<std::string>& tags, const Row& repository, const Facts& facts) {
    ImageNews news;
    const auto* scheme = image_scheme(repository.text("scheme"));
    if (scheme == nullptr) return news;
    const auto name = std::string(repository.text("repository"));
    TagSets known, listed;
    for (const auto& row : facts.rows(scheme->table)) {
        for (auto& tag : scheme->tags_of(row)) {
            if (const auto release = scheme->release_of(tag, facts)) known[*release].insert(std::move(tag));
        }
    }
    for (const auto& tag : tags) {
        if (const auto release = scheme->release_of(tag, facts)) listed[*release].insert(tag);
    }
    const auto first = oldest(known);
    for (const auto& [release, expected] : known) {
        const auto gone = without(expected, listed[release]);
        if (!gone.empty()) news.changes.push_back({Change::Kind::vanished, name, release, shown_tags(gone)});
    }
    for (const auto& [release, there] : listed) {
        const auto fresh = without(there, known[release]);
        const auto version = image_version(release);
        if (fresh.empty() || (first && version && *version < *first)) continue;
        news.changes.push_back({Change::Kind::fresh, name, release, shown_tags(fresh)});
        for (auto& group : scheme->groups(release, {there.begin(), there.end()}))
            news.groups.push_back(std::move(group));
    }
    return news;
}

namespace {

Result<OciConfig> config_for(OciClient& client, const ImageReference& reference, const OciManifest& manifest,
                             std::string_view arch) {
    CM_TRY_ASSIGN(const auto image, client.for_architecture(reference, manifest, oci_architecture(arch)));
    return client.config(reference, image);
}

Result<SeenImage> see(OciClient& client, const ImageReference& reference, const OciManifest& manifest) {
    SeenImage out{reference.text(), manifest.digest, {}, {}};
    for (const auto& [ours, theirs] : kOciArchitectures) {
        const bool there =
            std::ranges::any_of(manifest.images, [&, name = theirs](const OciDescriptor& image) {
                return image.os == "linux" && image.architecture == name;
            });
        if (there) out.arches.emplace_back(ours);
    }
    CM_TRY_ASSIGN(auto config, config_for(client, reference, manifest,
                                          out.arches.empty() ? "x86_64" : out.arches.front()));
    // An image that is not in an index says itself what it is for.
    for (const auto& [ours, theirs] : kOciArchitectures) {
        if (!manifest.is_index() && config.os == "linux" && config.architecture == theirs)
            out.arches.emplace_back(ours);
    }
    out.config = std::move(config);
    return out;
}

}  // namespace

Result<SeenImage> see_image(OciClient& client, const ImageReference& reference) {
    CM_TRY_ASSIGN(const auto manifest, client.manifest(reference));
    return see(client, reference, manifest);
}

Result<SeenImage> see_all_of_image(OciClient& client, const ImageReference& reference,
                                   const OciManifest& manifest) {
    CM_TRY_ASSIGN(auto out, see(client, reference, manifest));
    if (out.arches.size() < 2) return out;
    CM_TRY_ASSIGN(out.second, config_for(client, reference, manifest, out.arches[1]));
    return out;
}

}  // namespace cudamatrix::measure
