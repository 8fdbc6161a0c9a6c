// One layer of a container image, read in one pass, and how layers lie over each other (OCI image
// specification, "Image Layer Filesystem Changeset").
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "look/scan/local.hpp"
#include "look/scan/stream.hpp"
#include "look/scan/tar_bytes.hpp"

namespace cudamatrix::scan {

/// What a layer adds, and which paths of the layers below it hides.
struct Layer {
    std::map<std::string, Library> libraries;  ///< by path in the image; those worth a line
    std::vector<std::uint64_t> hides;          ///< sorted; see hides_path
    std::uint64_t files = 0;
};

/// Does a later layer replace `path`, or take it away?
[[nodiscard]] bool hides_path(const Layer& layer, const std::string& path);

/// What remains of all layers, the lowest first, by path. `hidden`: how many libraries do not.
[[nodiscard]] std::vector<Library> merged(std::vector<const Layer*> layers, std::size_t& hidden);

/// Takes the bytes of a layer: a tar, plain or compressed by gzip. Feed all bytes, then finish.
class LayerScanner final : private TarHandler {
  public:
    LayerScanner(std::string label, const Options& options);

    /// Input failures: those of TarBytes, more paths or libraries than an image has.
    [[nodiscard]] Status feed(std::span<const std::uint8_t> bytes) { return tar_.feed(bytes); }
    [[nodiscard]] Result<Layer> finish();

  private:
    [[nodiscard]] Status begin(const TarEntry& entry) override;
    [[nodiscard]] Status content(std::span<const std::uint8_t> bytes) override;
    [[nodiscard]] Status end() override;

    [[nodiscard]] bool note_path(const TarEntry& entry);

    std::string label_;
    const Options& options_;
    TarBytes tar_;
    std::unique_ptr<StreamScanner> file_;
    std::string path_;
    Layer layer_;
};

}  // namespace cudamatrix::scan
