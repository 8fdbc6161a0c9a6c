#include "look/scan/image_parts.hpp"

#include <algorithm>
#include <utility>

#include "base/image_reference.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

namespace cudamatrix::scan {
namespace {

constexpr std::size_t kMostLayers = 1024;
constexpr int kDeepestIndex = 4;
constexpr std::string_view kBlobs = "blobs/sha256/";
constexpr std::string_view kDigest = "sha256:";

bool is_hash(std::string_view text) {
    return text.size() == 64 &&
           std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Failure refused(const std::string& label, std::string_view why) {
    return input_failure(fmt::format("cannot read {} as a container image: {}", text::printable(label), why),
                         "name a tar of docker save or podman save, or an OCI image layout");
}

const Json* member(const Json& json, const char* name) {
    const auto found = json.is_object() ? json.find(name) : json.end();
    return json.is_object() && found != json.end() ? &*found : nullptr;
}

Result<std::vector<std::string>> docker_layers(const ImageText& text_of, const std::string& label) {
    CM_TRY_ASSIGN(const auto text, text_of("manifest.json"));
    const auto json = parse_json(text, "manifest.json");
    if (!json.ok()) return refused(label, json.failure().diagnostics.front().message);
    if (!json->is_array() || json->empty()) return refused(label, "its manifest.json names no image");
    if (json->size() > 1) {
        std::vector<std::string> names;
        for (const auto& image : *json) {
            const auto* tags = member(image, "RepoTags");
            if (tags != nullptr && tags->is_array() && !tags->empty() && tags->front().is_string())
                names.push_back(text::printable(tags->front().get<std::string>()));
        }
        return input_failure(fmt::format("{} holds {} images{}", text::printable(label), json->size(),
                                         names.empty() ? "" : ": " + text::join(names, ", ")),
                             "save one of them by itself");
    }
    const auto* layers = member(json->front(), "Layers");
    if (layers == nullptr || !layers->is_array() || layers->size() > kMostLayers)
        return refused(label, "its manifest.json has no list of layers");
    std::vector<std::string> out;
    for (const auto& layer : *layers) {
        if (!layer.is_string()) return refused(label, "its manifest.json has a layer without a name");
        out.push_back(layer.get<std::string>());
    }
    return out;
}

// What an index or a manifest says of one of its blobs.
struct Descriptor {
    std::string path;
    std::string platform;  ///< "linux/amd64"; empty: not said
};

Result<std::vector<Descriptor>> descriptors(const Json& json, const char* name, const std::string& label) {
    const auto* list = member(json, name);
    if (list == nullptr || !list->is_array() || list->size() > kMostLayers)
        return refused(label, fmt::format("its JSON has no list of {}", name));
    std::vector<Descriptor> out;
    for (const auto& each : *list) {
        const auto digest = each.is_object() ? string_or(each, "digest") : std::string();
        Descriptor descriptor{blob_path(digest), {}};
        if (descriptor.path.empty())
            return refused(label, fmt::format("'{}' is not a sha256 digest", text::printable(digest)));
        if (const auto* platform = member(each, "platform"); platform != nullptr && platform->is_object())
            descriptor.platform =
                fmt::format("{}/{}", string_or(*platform, "os"), string_or(*platform, "architecture"));
        out.push_back(std::move(descriptor));
    }
    return out;
}

// The one manifest of an index that is for the platform; attestations say that they are for none.
Result<std::string> choose(const std::vector<Descriptor>& manifests, const std::string& label,
                           std::string_view arch) {
    const auto wanted = fmt::format("linux/{}", oci_architecture(arch));
    std::vector<std::string> fitting, platforms;
    for (const auto& manifest : manifests) {
        if (manifest.platform.empty() || manifest.platform == wanted) fitting.push_back(manifest.path);
        if (!manifest.platform.empty()) platforms.push_back(text::printable(manifest.platform));
    }
    if (fitting.empty())
        return input_failure(fmt::format("{} has no image for {}", text::printable(label), wanted),
                             platforms.empty() ? "" : "--arch; there are " + text::join(platforms, ", "));
    if (fitting.size() > 1)
        return input_failure(fmt::format("{} holds {} images", text::printable(label), fitting.size()),
                             "save one of them by itself");
    return fitting.front();
}

Result<std::vector<std::string>> oci_layers(const ImageText& text_of, const std::string& label,
                                            std::string_view arch) {
    std::string path = "index.json";
    for (int depth = 0; depth <= kDeepestIndex; ++depth) {
        CM_TRY_ASSIGN(const auto text, text_of(path));
        const auto json = parse_json(text, path);
        if (!json.ok()) return refused(label, json.failure().diagnostics.front().message);
        const bool is_index = member(*json, "manifests") != nullptr;
        CM_TRY_ASSIGN(auto found, descriptors(*json, is_index ? "manifests" : "layers", label));
        if (!is_index) {
            std::vector<std::string> layers;
            for (auto& layer : found)
                layers.push_back(std::move(layer.path));
            return layers;
        }
        CM_TRY_ASSIGN(path, choose(found, label, arch));
    }
    return refused(label, "its indexes name each other without end");
}

}  // namespace

std::string blob_path(std::string_view digest) {
    if (!digest.starts_with(kDigest) || !is_hash(digest.substr(kDigest.size()))) return {};
    return fmt::format("{}{}", kBlobs, digest.substr(kDigest.size()));
}

std::string digest_in(std::string_view path) {
    if (!path.starts_with(kBlobs) || !is_hash(path.substr(kBlobs.size()))) return {};
    return std::string(path.substr(kBlobs.size()));
}

Result<std::vector<std::string>> image_layers(const ImageText& text_of, bool docker, const std::string& label,
                                              std::string_view arch) {
    return docker ? docker_layers(text_of, label) : oci_layers(text_of, label, arch);
}

ImageBlob::ImageBlob(std::string path, const std::string& label, const Options& options)
    : path_(std::move(path)),
      label_(fmt::format("{} of {}", path_, label)),
      wanted_(digest_in(path_)),
      scanner_(label_, options) {}

void ImageBlob::feed(std::span<const std::uint8_t> bytes) {
    if (bytes.empty() || failure_) return;
    if (!std::exchange(begun_, true)) is_text_ = bytes[0] == '{' || bytes[0] == '[';
    const std::string_view chars(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!wanted_.empty()) hash_.update(chars);
    if (!is_text_) {
        if (auto fed = scanner_.feed(bytes); !fed.ok()) failure_ = std::move(fed).failure();
    } else if (chars.size() > kLongestText - text_.size()) {
        failure_ = input_failure(
            fmt::format("{} has more than {}", text::printable(label_), text::human_bytes(kLongestText)));
    } else {
        text_ += chars;
    }
}

Status ImageBlob::check_hash() {
    if (wanted_.empty()) return Done{};
    const auto digest = hash_.hex();
    if (digest == wanted_) return Done{};
    return input_failure(
        fmt::format("{} is damaged: its bytes have the sha256 {}", text::printable(label_), digest),
        "make or fetch the image again");
}

Result<std::string> ImageBlob::text() {
    if (failure_) return *failure_;
    CM_TRY(check_hash());
    return std::move(text_);
}

Result<Layer> ImageBlob::layer() {
    if (failure_) return *failure_;
    auto layer = scanner_.finish();
    if (!layer.ok()) return layer;
    CM_TRY(check_hash());
    return layer;
}

}  // namespace cudamatrix::scan
