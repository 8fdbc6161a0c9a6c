#include "look/scan/image.hpp"

#include <sys/stat.h>
#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "look/scan/image_parts.hpp"
#include "look/scan/local.hpp"

namespace cudamatrix::scan {
namespace {

constexpr std::uint64_t kMostText = 32U << 20;
constexpr std::size_t kMostParts = 10'000;  // files of an image's tar

Failure no_part(const std::string& label, const std::string& path) {
    return input_failure(fmt::format("{}: there is no {}", text::printable(label), text::printable(path)),
                         "name a tar of docker save or podman save, or an OCI image layout, that is whole");
}

// "../ID/layer.tar" beside "OTHER/layer.tar" as "ID/layer.tar".
std::string beside(const std::string& path, const std::string& link) {
    auto parts = text::split(path, '/');
    parts.pop_back();
    for (auto& part : text::split(link, '/')) {
        if (part == ".." && !parts.empty()) {
            parts.pop_back();
        } else if (!part.empty() && part != "." && part != "..") {
            parts.push_back(std::move(part));
        }
    }
    return text::join(parts, "/");
}

bool may_be_part(const std::string& path) {
    return path.ends_with(".json") || path.ends_with(".tar") || path.ends_with(".tar.gz") ||
           !digest_in(path).empty();
}

}  // namespace

Scan scan_of_layers(const std::string& target, const std::vector<const Layer*>& layers) {
    Scan scan{target, "image", {}, {}, 0};
    for (const auto* layer : layers)
        scan.files += layer->files;
    std::size_t hidden = 0;
    scan.libraries = merged(layers, hidden);
    scan.notes.push_back(text::count(layers.size(), "layer"));
    if (hidden != 0) {
        scan.notes.push_back(fmt::format("{} with device code replaced or removed by later layers",
                                         text::count(hidden, "file")));
    }
    return scan;
}

ImageTar::ImageTar(std::string label, std::string arch, const Options& options)
    : label_(std::move(label)), arch_(std::move(arch)), options_(options), tar_(*this, label_) {}

ImageTar::~ImageTar() = default;

Status ImageTar::begin(const TarEntry& entry) {
    blob_.reset();
    if (texts_.size() + layers_.size() + links_.size() >= kMostParts)
        return input_failure(fmt::format("{} holds more than {} files: it is not a container image",
                                         text::printable(label_), kMostParts));
    if (!may_be_part(entry.path)) return Done{};
    if (entry.kind == TarEntry::Kind::symbolic_link) links_[entry.path] = beside(entry.path, entry.link);
    if (entry.kind == TarEntry::Kind::hard_link) links_[entry.path] = entry.link;
    if (entry.kind == TarEntry::Kind::file) blob_ = std::make_unique<ImageBlob>(entry.path, label_, options_);
    return Done{};
}

Status ImageTar::content(std::span<const std::uint8_t> bytes) {
    if (cudamatrix::interrupted(options_.cancellation))
        return Failure{ExitCode::interrupted, {Diagnostic::error("interrupted")}};
    if (blob_) blob_->feed(bytes);
    return Done{};
}

Status ImageTar::end() {
    const auto blob = std::exchange(blob_, nullptr);
    if (!blob) return Done{};
    if (!blob->is_text()) {
        layers_.insert_or_assign(blob->path(), blob->layer());
        return Done{};
    }
    CM_TRY_ASSIGN(auto text, blob->text());
    text_bytes_ += text.size();
    if (text_bytes_ > kMostText)
        return input_failure(fmt::format("{} holds more than {} of JSON: it is not a container image",
                                         text::printable(label_), text::human_bytes(kMostText)));
    texts_[blob->path()] = std::move(text);
    return Done{};
}

Result<Scan> ImageTar::finish() {
    CM_TRY(tar_.finish());
    const auto text_of = [this](const std::string& path) -> Result<std::string> {
        const auto found = texts_.find(path);
        return found == texts_.end() ? Result<std::string>(no_part(label_, path)) : found->second;
    };
    const bool docker = texts_.count("manifest.json") != 0;
    if (!docker && texts_.count("index.json") == 0)
        return input_failure(fmt::format("{} is not a container image: it holds neither manifest.json nor "
                                         "index.json",
                                         text::printable(label_)),
                             "name a tar of docker save or podman save, or an OCI image layout");
    CM_TRY_ASSIGN(const auto paths, image_layers(text_of, docker, label_, arch_));
    std::vector<const Layer*> layers;
    for (const auto& path : paths) {
        const auto link = links_.find(path);
        const auto found = layers_.find(link == links_.end() ? path : link->second);
        if (found == layers_.end()) return no_part(label_, path);
        if (!found->second.ok()) return found->second.failure();
        layers.push_back(&found->second.value());
    }
    return scan_of_layers(label_, layers);
}

bool may_be_image_tar(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
    const auto source = open_file(path);
    std::array<std::uint8_t, TarStream::kBlock> block{};
    if (!source.ok() || (*source)->size() < block.size() || !(*source)->read(0, block).ok()) return false;
    return (block[0] == 0x1f && block[1] == 0x8b) || looks_like_tar(block);
}

bool is_image_folder(const std::string& path) {
    struct stat info {};
    return ::stat((path + "/oci-layout").c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
           ::stat((path + "/index.json").c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

Result<Scan> scan_image_tar(const std::string& path, const std::string& arch, const Options& options) {
    CM_TRY_ASSIGN(const auto source, open_file(path));
    ImageTar tar(path, arch, options);
    CM_TRY(read_all(*source, [&tar](auto bytes) { return tar.feed(bytes); }));
    return tar.finish();
}

Result<Scan> scan_image_folder(const std::string& path, const std::string& arch, const Options& options) {
    const auto blob_of = [&](const std::string& name) -> Result<std::unique_ptr<ImageBlob>> {
        CM_TRY_ASSIGN(const auto source, open_file(path + "/" + name));
        auto blob = std::make_unique<ImageBlob>(name, path, options);
        CM_TRY(read_all(*source, [&](auto bytes) -> Status {
            blob->feed(bytes);
            if (!cudamatrix::interrupted(options.cancellation)) return Done{};
            return Failure{ExitCode::interrupted, {Diagnostic::error("interrupted")}};
        }));
        return blob;
    };
    const auto text_of = [&](const std::string& name) -> Result<std::string> {
        CM_TRY_ASSIGN(auto blob, blob_of(name));
        return blob->text();
    };
    CM_TRY_ASSIGN(const auto paths, image_layers(text_of, false, path, arch));
    std::map<std::string, Layer> layers;  // one that stands twice is read once
    std::vector<const Layer*> order;
    for (const auto& name : paths) {
        if (layers.count(name) == 0) {
            CM_TRY_ASSIGN(auto blob, blob_of(name));
            CM_TRY_ASSIGN(auto layer, blob->layer());
            layers.emplace(name, std::move(layer));
        }
        order.push_back(&layers.at(name));
    }
    return scan_of_layers(path, order);
}

Result<Scan> scan_saved_image(Command save, const std::string& target, const std::string& arch,
                              const Options& options) {
    ImageTar tar(target, arch, options);
    Status fed = Done{};
    save.on_output = [&](std::string_view bytes) {
        fed = tar.feed({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
        return fed.ok();
    };
    CM_TRY_ASSIGN(const auto outcome, run(save, options.cancellation));
    if (cudamatrix::interrupted(options.cancellation))
        return Failure{ExitCode::interrupted, {Diagnostic::error("interrupted")}};
    if (!fed.ok()) return fed.failure();
    if (!outcome.success()) {
        const auto words = text::trim(outcome.err);
        return environment_failure(
            fmt::format("{}: {} ended with {}{}", text::printable(target), text::printable(save.argv.front()),
                        outcome.describe(), words.empty() ? "" : ": " + text::printable(words)),
            "name an image that the engine has, as its own list of images shows it");
    }
    return tar.finish();
}

namespace {

Result<Layer> read_layer(OciClient& client, const ImageReference& reference, const OciDescriptor& descriptor,
                         const std::string& name, const Options& options) {
    LayerScanner scanner(fmt::format("{}, layer {}", reference.text(), descriptor.digest), options);
    Meter meter(options, name, descriptor.size, descriptor.size);
    CM_TRY(client.layer(reference, descriptor, [&](auto bytes) {
        meter.add(bytes.size());
        return scanner.feed(bytes);
    }));
    return scanner.finish();
}

}  // namespace

Result<Scan> scan_registry_image(OciClient& client, const ImageReference& reference,
                                 const std::string& target, const std::string& arch, const Options& options) {
    CM_TRY_ASSIGN(const auto named, client.manifest(reference));
    CM_TRY_ASSIGN(const auto image, client.for_architecture(reference, named, oci_architecture(arch)));
    std::map<std::string, Layer> layers;  // one that stands twice is read once
    std::vector<const Layer*> order;
    std::uint64_t bytes = 0;
    for (const auto& descriptor : image.layers) {
        if (layers.count(descriptor.digest) == 0) {
            const auto name = fmt::format("layer {} of {}", order.size() + 1, image.layers.size());
            CM_TRY_ASSIGN(auto layer, read_layer(client, reference, descriptor, name, options));
            layers.emplace(descriptor.digest, std::move(layer));
            bytes += descriptor.size;
        }
        order.push_back(&layers.at(descriptor.digest));
    }
    auto scan = scan_of_layers(target, order);
    scan.notes.push_back(image.digest + " checked");
    scan.notes.push_back(fmt::format("{} of layers transferred", text::human_bytes(bytes)));
    return scan;
}

}  // namespace cudamatrix::scan
