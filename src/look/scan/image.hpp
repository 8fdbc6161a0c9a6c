// Scans container images: a tar of docker save or podman save, an OCI image layout as folder or tar, and what
// an engine hands out of its store. Nothing is unpacked.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"
#include "look/scan/layer.hpp"
#include "look/scan/local.hpp"
#include "registry/oci.hpp"

namespace cudamatrix::scan {

class ImageBlob;

/// Takes the bytes of an image's tar as they come, in whatever order its parts stand: every layer is scanned
/// when it goes by, and at the end the manifest says which of them count, and in which order. A tar that is
/// compressed by gzip is taken as well. Feed all bytes, then finish.
class ImageTar final : private TarHandler {
  public:
    /// `label` names the image in messages; `arch`: "x86_64" or "aarch64", of an image for several.
    ImageTar(std::string label, std::string arch, const Options& options);

    ~ImageTar() override;
    /// Input failures: those of TarBytes.
    [[nodiscard]] Status feed(std::span<const std::uint8_t> bytes) { return tar_.feed(bytes); }
    /// Input failures: no manifest, those of image_layers, a layer that is not there, that LayerScanner
    /// refuses, or whose sha256 is not the one of its name.
    [[nodiscard]] Result<Scan> finish();

  private:
    [[nodiscard]] Status begin(const TarEntry& entry) override;
    [[nodiscard]] Status content(std::span<const std::uint8_t> bytes) override;
    [[nodiscard]] Status end() override;

    std::string label_;
    std::string arch_;
    const Options& options_;
    TarBytes tar_;
    std::unique_ptr<ImageBlob> blob_;           ///< that goes by
    std::map<std::string, std::string> texts_;  ///< JSON, by path
    std::uint64_t text_bytes_ = 0;
    std::map<std::string, Result<Layer>> layers_;  ///< by path; the failure counts where an image names it
    std::map<std::string, std::string> links_;     ///< path -> path: how docker save wrote a layer twice
};

/// What remains of the layers of an image, the lowest first.
[[nodiscard]] Scan scan_of_layers(const std::string& target, const std::vector<const Layer*>& layers);

/// The file on disk looks like a tar, or is compressed by gzip.
[[nodiscard]] bool may_be_image_tar(const std::string& path);
/// The folder is an OCI image layout.
[[nodiscard]] bool is_image_folder(const std::string& path);

[[nodiscard]] Result<Scan> scan_image_tar(const std::string& path, const std::string& arch,
                                          const Options& options);
[[nodiscard]] Result<Scan> scan_image_folder(const std::string& path, const std::string& arch,
                                             const Options& options);

/// Runs `save`, which writes a tar of the image to its standard output, and reads that. Environment failure
/// in the program's own words where it cannot.
[[nodiscard]] Result<Scan> scan_saved_image(Command save, const std::string& target, const std::string& arch,
                                            const Options& options);

// Scans an image where it lies in a registry: its layers are read as they come, nothing is pulled or kept.

/// Every layer of the image for linux on `arch` (x86_64, aarch64), each checked against its digest. Failures:
/// those of OciClient, and of LayerScanner. `target` names the image in the report.
[[nodiscard]] Result<Scan> scan_registry_image(OciClient& client, const ImageReference& reference,
                                               const std::string& target, const std::string& arch,
                                               const Options& options);

}  // namespace cudamatrix::scan
