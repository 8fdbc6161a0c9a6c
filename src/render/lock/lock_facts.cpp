// The configurations of images in a lock, as facts.
#include <utility>

#include "base/image_reference.hpp"
#include "base/text.hpp"
#include "knowledge/facts/store.hpp"
#include "render/lock/lock_file.hpp"

namespace cudamatrix {
namespace {

facts::ParsedRow row_of(const std::string& name, const ImageConfiguration& image) {
    facts::ParsedRow row;
    const auto add = [&](const char* column, std::string value) {
        if (!value.empty()) row.columns.push_back({column, {std::move(value)}, false});
    };
    add("id", "other-image-" + name);
    add("image", name);
    row.columns.push_back({"arch", image.arches, true});
    add("cuda", image.cuda);
    add("requires", image.condition);
    add("requires_aarch64", image.condition_aarch64);
    add("source", fmt::format("image:{} {}", name, image.digest));
    add("as_of", image.as_of);
    add("confidence", "measured");
    return row;
}

}  // namespace

std::optional<std::string> name_in_lock(std::string_view reference) {
    auto parsed = parse_image_reference(reference);
    if (!parsed.ok()) return std::nullopt;
    if (!parsed->digest.empty()) {
        parsed->tag.clear();
    } else if (parsed->tag.empty()) {
        parsed->tag = kLatestTag;
    }
    return parsed->text();
}

Facts with_configurations(const Facts& facts, const Lock& lock) {
    std::vector<facts::ParsedRow> rows;
    for (const auto& [name, image] : lock.configurations)
        rows.push_back(row_of(name, image));
    return facts.with_rows("other_images", rows);
}

}  // namespace cudamatrix
