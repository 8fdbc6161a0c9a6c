#include "look/scan/registry_image.hpp"

#include <map>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "look/scan/image.hpp"

namespace cudamatrix::scan {
namespace {

Result<Layer> read_layer(OciClient& client, const ImageReference& reference, const OciDescriptor& descriptor,
                         const Options& options) {
    LayerScanner scanner(fmt::format("{}, layer {}", reference.text(), descriptor.digest), options);
    const auto done = client.layer(reference, descriptor, [&](auto bytes) { return scanner.feed(bytes); });
    if (!done.ok()) return done.failure();
    return scanner.finish();
}

}  // namespace

Result<Scan> scan_registry_image(OciClient& client, const ImageReference& reference,
                                 const std::string& target, const std::string& arch, const Options& options) {
    const auto named = client.manifest(reference);
    if (!named.ok()) return named.failure();
    const auto image = client.for_architecture(reference, *named, oci_architecture(arch));
    if (!image.ok()) return image.failure();
    std::map<std::string, Layer> layers;  // one that stands twice is read once
    std::vector<const Layer*> order;
    std::uint64_t bytes = 0;
    for (const auto& descriptor : image->layers) {
        if (layers.count(descriptor.digest) == 0) {
            auto layer = read_layer(client, reference, descriptor, options);
            if (!layer.ok()) return std::move(layer).failure();
            layers.emplace(descriptor.digest, std::move(layer).value());
            bytes += descriptor.size;
        }
        order.push_back(&layers.at(descriptor.digest));
    }
    auto scan = scan_of_layers(target, order);
    scan.notes.push_back(image->digest + " checked");
    scan.notes.push_back(fmt::format("{} of layers transferred", text::human_bytes(bytes)));
    return scan;
}

}  // namespace cudamatrix::scan
