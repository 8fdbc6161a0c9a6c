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
#include "look/scan/tar_stream.hpp"
#include "registry/inflate.hpp"

namespace cudamatrix::scan {

// A tar that goes by once, plain or compressed by gzip.

/// Feed all bytes, then finish; the handler gets what the tar holds.
class TarBytes {
  public:
    /// `label` names the tar in messages.
    TarBytes(TarHandler& handler, std::string label) : label_(std::move(label)), tar_(handler, label_) {}

    /// Input failures: those of TarStream, a gzip stream that is broken, another compression, more bytes than
    /// anything honest inflates to.
    [[nodiscard]] Status feed(std::span<const std::uint8_t> bytes);
    /// Input failure where the end did not come.
    [[nodiscard]] Status finish();

  private:
    [[nodiscard]] Status begin();
    [[nodiscard]] Status inflate(std::span<const std::uint8_t> bytes);

    std::string label_;
    TarStream tar_;
    std::vector<std::uint8_t> first_;  ///< until there are enough bytes to tell what this is
    bool begun_ = false;
    std::unique_ptr<Inflater> inflater_;
    bool stream_ended_ = false;
    std::uint64_t inflated_ = 0;
};

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
