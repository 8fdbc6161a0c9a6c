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
    CM_TRY(client.layer(reference, descriptor, [&](auto bytes) { return scanner.feed(bytes); }));
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
            CM_TRY_ASSIGN(auto layer, read_layer(client, reference, descriptor, options));
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
