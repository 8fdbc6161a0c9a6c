// Scans an image where it lies in a registry: its layers are read as they come, nothing is pulled or kept.
#pragma once

#include <string>

#include "look/scan/local.hpp"
#include "registry/oci.hpp"

namespace cudamatrix::scan {

/// Every layer of the image for linux on `arch` (x86_64, aarch64), each checked against its digest. Failures:
/// those of OciClient, and of LayerScanner. `target` names the image in the report.
[[nodiscard]] Result<Scan> scan_registry_image(OciClient& client, const ImageReference& reference,
                                               const std::string& target, const std::string& arch,
                                               const Options& options);

}  // namespace cudamatrix::scan
