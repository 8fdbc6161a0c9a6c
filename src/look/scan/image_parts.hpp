// Which blobs are the layers of an image: manifest.json of docker save, index and manifest of OCI (image
// specification, "Image Layout", "Image Index", "Image Manifest").
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sha256.hpp"
#include "look/scan/layer.hpp"

namespace cudamatrix::scan {

/// The text of a file of the image ("blobs/sha256/HEX", "index.json"); an input failure where there is none.
using ImageText = std::function<Result<std::string>(const std::string& path)>;

/// Paths of the layers, the lowest first. From manifest.json (`docker`) or from index.json, whose manifest
/// for linux on `arch` ("x86_64", "aarch64") is taken. Input failures: more than one image, none for that
/// architecture, JSON that is none of these, a digest other than sha256.
[[nodiscard]] Result<std::vector<std::string>> image_layers(const ImageText& text_of, bool docker,
                                                            const std::string& label, std::string_view arch);

/// "blobs/sha256/HEX" of "sha256:HEX"; empty for anything else.
[[nodiscard]] std::string blob_path(std::string_view digest);
/// HEX of "blobs/sha256/HEX"; empty for any other path.
[[nodiscard]] std::string digest_in(std::string_view path);

// One blob of a container image: JSON that is kept, or a layer that is scanned.

/// Feed all bytes, then ask for text or layer; which of them it is, the first byte tells.
class ImageBlob {
  public:
    static constexpr std::size_t kLongestText = 4U << 20;

    /// `path`: in the image. That of a blob holds the sha256 that it has to have.
    ImageBlob(std::string path, const std::string& label, const Options& options);

    void feed(std::span<const std::uint8_t> bytes);
    [[nodiscard]] const std::string& path() const { return path_; }
    /// It begins as JSON does, and layers never do.
    [[nodiscard]] bool is_text() const { return is_text_; }
    /// Input failures: more bytes than kLongestText, another sha256 than that of the name.
    [[nodiscard]] Result<std::string> text();
    /// Input failures: those of LayerScanner, another sha256.
    [[nodiscard]] Result<Layer> layer();

  private:
    [[nodiscard]] Status check_hash();

    std::string path_;
    std::string label_;
    std::string wanted_;
    Sha256 hash_;
    bool begun_ = false;
    bool is_text_ = false;
    std::string text_;
    LayerScanner scanner_;
    std::optional<Failure> failure_;
};

}  // namespace cudamatrix::scan
