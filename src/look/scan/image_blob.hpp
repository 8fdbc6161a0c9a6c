// One blob of a container image: JSON that is kept, or a layer that is scanned (private to src/scan).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/sha256.hpp"
#include "look/scan/layer.hpp"

namespace cudamatrix::scan {

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
