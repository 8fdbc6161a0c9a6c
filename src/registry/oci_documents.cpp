// The documents of a registry: manifests, indexes and configurations of images. They are read as hostile
// text.
#include <set>

#include "base/json.hpp"
#include "base/text.hpp"
#include "registry/oci.hpp"

namespace cudamatrix {
namespace {

constexpr std::size_t kMostEntries = 10'000;

Failure strange(std::string_view name, std::string_view what) {
    return environment_failure(fmt::format("{}: {}", name, text::printable(what)));
}

Result<OciDescriptor> descriptor(const Json& json, std::string_view name) {
    OciDescriptor out;
    out.media_type = string_or(json, "mediaType");
    out.digest = string_or(json, "digest");
    const auto* size = member(json, "size");
    if (!is_image_digest(out.digest) || size == nullptr || !size->is_number_unsigned())
        return strange(
            name, fmt::format("'{}' in its manifest is not a digest with a size", out.digest.substr(0, 100)));
    out.size = size->get<std::uint64_t>();
    if (const auto* platform = member(json, "platform")) {
        out.os = string_or(*platform, "os");
        out.architecture = string_or(*platform, "architecture");
    }
    return out;
}

Result<std::vector<OciDescriptor>> descriptors(const Json& list, std::string_view name) {
    if (!list.is_array() || list.size() > kMostEntries)
        return strange(name, "its manifest has no list that can be read");
    std::vector<OciDescriptor> out;
    for (const auto& item : list) {
        CM_TRY_ASSIGN(auto one, descriptor(item, name));
        out.push_back(std::move(one));
    }
    return out;
}

}  // namespace

Result<OciDescriptor> image_in_index(const OciManifest& index, std::string_view name,
                                     std::string_view architecture) {
    std::set<std::string> others;
    for (const auto& image : index.images) {
        if (image.os == "linux" && image.architecture == architecture) return image;
        if (image.os != "unknown") others.insert(text::printable(image.os + "/" + image.architecture));
    }
    return input_failure(
        fmt::format("{}: there is no image for linux/{}: it has {}", name, architecture,
                    others.empty() ? "none" : text::join({others.begin(), others.end()}, ", ")),
        others.empty() ? "" : "choose a tag that has it, or an architecture that this one has");
}

Result<OciManifest> parse_manifest(std::string_view text, std::string digest, std::string_view name) {
    const auto json = parse_json(text, name);
    if (!json.ok()) return strange(name, "its manifest is not JSON");
    OciManifest out;
    out.digest = std::move(digest);
    out.media_type = string_or(*json, "mediaType");
    const auto* version = member(*json, "schemaVersion");
    if (version != nullptr && *version == 1)
        return strange(name,
                       "its manifest is of schema 1, which registries gave up in 2019: rebuild the image");
    if (version == nullptr || *version != 2) return strange(name, "its manifest says no schemaVersion 2");
    if (const auto* images = member(*json, "manifests")) {
        CM_TRY_ASSIGN(out.images, descriptors(*images, name));
        return out;
    }
    const auto* config = member(*json, "config");
    const auto* layers = member(*json, "layers");
    if (config == nullptr || layers == nullptr)
        return strange(name, "its manifest is neither an index nor one of an image");
    CM_TRY_ASSIGN(out.config, descriptor(*config, name));
    CM_TRY_ASSIGN(out.layers, descriptors(*layers, name));
    return out;
}

Result<OciConfig> parse_image_config(std::string_view text, std::string_view name) {
    const auto json = parse_json(text, name);
    if (!json.ok() || !json->is_object()) return strange(name, "its configuration is not a JSON object");
    OciConfig out;
    out.os = string_or(*json, "os");
    out.architecture = string_or(*json, "architecture");
    const auto* config = member(*json, "config");
    if (config == nullptr) return out;
    const auto* env = member(*config, "Env");
    for (const auto& item : env == nullptr ? Json::array() : *env) {
        const auto whole = item.is_string() ? item.get<std::string>() : std::string();
        const auto equals = whole.find('=');
        if (equals != std::string::npos)
            out.env.emplace_back(whole.substr(0, equals), whole.substr(equals + 1));
    }
    const auto* labels = member(*config, "Labels");
    if (labels == nullptr || !labels->is_object()) return out;
    for (const auto& [key, value] : labels->items()) {
        if (value.is_string()) out.labels[key] = value.get<std::string>();
    }
    return out;
}

}  // namespace cudamatrix
